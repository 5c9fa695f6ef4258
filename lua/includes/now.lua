--- @include server_time
-- From here on, the queue's time. Each change gets a time of its own, later than the one before, so
-- that the entries of a shelf are in order without a look at the last one. A server whose clock steps
-- back (a failover, an operator) would keep leases alive by the length of the step: such a step is
-- added to the queue's skew. A smaller one is waited out. Here and in the ordinary moves, times of one
-- length are compared as text: a number would first have to be made of each, at a tenth of a command.
if skew ~= '0' or #at ~= #clock or at <= clock then
  now = now + skew
  local stepped = clock - now > 100000
  if stepped then skew = string.format('%.0f', skew + clock + 1 - now) end
  if now <= clock + 0 then now = clock + 1 end
  at = string.format('%.0f', now)
  if stepped then -- written at once: time goes on also where nobody changes anything else
    --- @include join_status
    call('HSET', LEDGER, 'status', status)
  end
end
