--- @include server_time
-- From here on, the queue's time. Each change gets a time of its own, later than the one before, so
-- that the entries of a shelf are in order without a look at the last one. A server whose clock steps
-- back (a failover, an operator) would keep leases alive by the length of the step: such a step is
-- added to the queue's skew. A smaller one is waited out.
if skew or now <= (clock or 0) + 0 then
  now = now + (skew or 0)
  local last = (clock or 0) + 0
  if now <= last then
    if last - now > 100000 then
      call('HSET', LEDGER, 'skew', string.format('%.0f', (skew or 0) + last + 1 - now))
    end
    now = last + 1
  end
  at = string.format('%.0f', now)
end
