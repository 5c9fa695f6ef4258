--- @include shelves
-- How many rows may wait at once: those of skills and of persons, which `rows` lists.
local rows = { MOST = 500 }

-- Takes the rows whose shelves are empty off the list, but for those in `wanted`, by name. Gives how many.
function rows.drop_empty(wanted)
  local all, dropped = redis.call('HGETALL', keys.rows), 0
  for i = 1, #all, 2 do
    local of_row = {}
    for shelf in string.gmatch(all[i + 1], '%S+') do of_row[#of_row + 1] = shelves.key(all[i], shelf) end
    if not wanted[all[i]] and redis.call('EXISTS', unpack(of_row)) == 0 then
      redis.call('HDEL', keys.rows, all[i])
      dropped = dropped + 1
    end
  end
  return dropped
end

-- Whether there would be too many rows with those in `wanted`, by name.
function rows.too_many(wanted)
  local over = redis.call('HLEN', keys.rows) - rows.MOST
  for row in pairs(wanted) do over = over + 1 - redis.call('HEXISTS', keys.rows, row) end
  return over > 0 and over > rows.drop_empty(wanted)
end
