-- A waiter that looks by itself, not woken, overtakes nobody: not those who were woken and are on their
-- way, nor those in front while wake-ups go round. After SETTLED without one it may: a message may have been
-- lost, or what waits is not for those in front.
--- @include line
local ON_THE_WAY, SETTLED = 200000, 3000000 -- microseconds

-- Those who were woken and did not come in time may have been killed: their wake-ups go to the next in line,
-- two for each, since those beside a killed waiter often were killed with it. Gives whether anybody is woken.
local function pass_on()
  if call('HLEN', LINE_UNTIL) == call('ZCARD', LINE) then return false end
  local stands, late = {}, 0
  for _, name in ipairs(call('ZRANGE', LINE, 0, -1)) do stands[name] = true end
  local all = call('HGETALL', LINE_UNTIL)
  for i = 1, #all, 2 do
    local name, terms = all[i], all[i + 1]
    if not stands[name] then
      local is_late = string.sub(terms, -5) == ' late'
      if not is_late then late = late + 1 end
      if string.match(terms, '^%d+') + 0 < now then
        call('HDEL', LINE_UNTIL, name)
      elseif not is_late then
        call('HSET', LINE_UNTIL, name, terms .. ' late')
      end
    end
  end
  if late > 0 then wake(math.min(2 * late, MOST_WOKEN)) end
  return late > 0
end

local last = call('ZSCORE', LINE, waiter) and call('HGET', LEDGER, 'line')
if last then
  stand_in_line(waiter)
  local first = first_in_line() == waiter
  if now - last < ON_THE_WAY or (pass_on() and not first) or (now - last < SETTLED and not first) then
    -- one that was woken itself just now comes back as such
    local stands = call('ZSCORE', LINE, waiter)
    return { 'nothing', stands and stand_in_line(waiter) or BELIEVED, token }
  end
end
