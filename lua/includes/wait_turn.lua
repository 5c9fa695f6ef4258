-- A waiter that looks by itself, not woken, overtakes nobody: not those who were woken and are on their
-- way, nor those in front while wake-ups go round. After SETTLED without one it may: a message may have been
-- lost, or what waits is not for those in front.
--- @include line
local ON_THE_WAY, SETTLED = 200000, 3000000 -- microseconds
local last = call('ZSCORE', LINE, waiter) and call('HGET', LEDGER, 'line')
if last and now - last < SETTLED then
  local first = call('ZRANGE', LINE, 0, 0)[1]
  local there = (string.match(call('HGET', LINE_UNTIL, first) or '', '^%d+') or 0) + 0 >= now
  if now - last < ON_THE_WAY or (first ~= waiter and there) then
    return { 'nothing', stand_in_line(waiter) }
  end
end
