-- How many people wait for an item: those in line that are believed to be there. One that was killed counts
-- no longer than that, though nothing may happen in the queue that takes it out of the line.
local function waiting()
  local QUEUE, there, count = string.sub(LEDGER, 1, -7), {}, 0
  local all = call('HGETALL', QUEUE .. 'line_until')
  for i = 1, #all, 2 do there[all[i]] = string.match(all[i + 1], '^%d+') + 0 >= now end
  for _, waiter in ipairs(call('ZRANGE', QUEUE .. 'line', 0, -1)) do
    if there[waiter] then count = count + 1 end
  end
  return count
end
