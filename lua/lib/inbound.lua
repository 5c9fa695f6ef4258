--- @include shelves
-- All that waits in a queue.
local inbound = {}

-- Calls `visit` with the row and the name of each shelf that may hold something, the plain row first.
function inbound.each(visit)
  for shelf in string.gmatch(queue.shelves, '%S+') do visit('', shelf) end
  local rows = queue.mode ~= 'open' and redis.call('HGETALL', keys.rows) or {}
  for i = 1, #rows, 2 do
    for shelf in string.gmatch(rows[i + 1], '%S+') do visit(rows[i], shelf) end
  end
end

-- How many items wait, and since when the oldest one has waited; math.huge if none waits.
function inbound.sum()
  local waiting_count, oldest_time = 0, math.huge
  inbound.each(function(row, shelf)
    local key = shelves.key(row, shelf)
    waiting_count = waiting_count + redis.call('ZCARD', key)
    oldest_time = math.min(oldest_time, tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] or math.huge))
  end)
  return waiting_count, oldest_time
end
