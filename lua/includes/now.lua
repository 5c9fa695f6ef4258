-- The queue's time in microseconds: `at` as text, `now` as a number. Each change gets a time of its
-- own, later than the one before, so entries of a shelf are in order without looking at the last one.
local at = ARGV[1]
if at == '' then
  local t = call('TIME')
  local us = t[2]
  if #us < 6 then us = string.rep('0', 6 - #us) .. us end
  at = t[1] .. us
end
local now = at + 0

-- A server whose clock steps back (a failover, an operator) would keep leases alive by the length of
-- the step: such a step is added to the queue's skew. A smaller one is waited out.
local function tick(clock, skew)
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
