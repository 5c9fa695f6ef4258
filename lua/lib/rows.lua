--- @include shelves
-- How many rows for skills and for people, which the hash `rows` lists, may wait at the same time.
local rows = { LIMIT = 500 }

-- Removes the rows whose shelves are empty from the list, except those in `needed_rows`, by name. Returns how
-- many.
function rows.drop_empty(needed_rows)
  local fields, count = redis.call('HGETALL', keys.rows), 0
  for i = 1, #fields, 2 do
    local shelf_keys = {}
    for shelf in string.gmatch(fields[i + 1], '%S+') do shelf_keys[#shelf_keys + 1] = shelves.key(fields[i], shelf) end
    if not needed_rows[fields[i]] and redis.call('EXISTS', unpack(shelf_keys)) == 0 then
      redis.call('HDEL', keys.rows, fields[i])
      count = count + 1
    end
  end
  return count
end

-- Whether there would be too many rows with those in `needed_rows`, by name.
function rows.too_many(needed_rows)
  local excess = redis.call('HLEN', keys.rows) - rows.LIMIT
  for row in pairs(needed_rows) do excess = excess + 1 - redis.call('HEXISTS', keys.rows, row) end
  return excess > 0 and excess > rows.drop_empty(needed_rows)
end
