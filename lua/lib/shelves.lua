--- @include items
--[[ The places where items wait. Inbound consists of rows of shelves: the plain row, whose name is empty, a
row for each set of skills that waiting items require (`fr+legal`), and one for each person to whom items are
assigned (`@ann`). The shelves of a row that may hold something are listed in order of precedence: for the
plain row in the status, for the others in the hash `rows`.

rows  = shelf *(" " shelf)
shelf = band [":" round] [":returned"]
band  = "high" | "normal" | "low"

round     the number of the assignment within its item, from 2 on
returned  items that were handed out before; they precede those of the same band and round that were not ]]
local shelves = { ROW_LIMIT = 500 } -- how many rows in the hash `rows` may have waiting items at the same time

function shelves.key(row, shelf)
  if row ~= '' then return keys.inbound .. ':' .. row .. ':' .. shelf end
  return shelf == 'normal' and keys.inbound or keys.inbound .. ':' .. shelf
end

function shelves.row(item)
  if item.assignee then return '@' .. items.assignee(item) end
  return item.requires and (string.gsub(item.requires, ',', '+')) or ''
end

function shelves.key_of(item) return shelves.key(shelves.row(item), item.shelf or 'normal') end

-- The name of a shelf among those of all rows, and the same for the shelf of an item.
function shelves.path(row, shelf) return row .. ':' .. shelf end

function shelves.path_of(item) return shelves.path(shelves.row(item), item.shelf or 'normal') end

-- The row and the shelf of a path. A row may contain colons.
function shelves.parse_path(path)
  local colon = string.find(string.gsub(string.gsub(path, ':returned$', ''), ':%d+$', ''), ':%l+$')
  return string.sub(path, 1, colon - 1), string.sub(path, colon + 1)
end

function shelves.band(priority)
  local high, low = string.match(queue.rules.bands, '^(%d+),(%d+)$')
  priority = tonumber(priority or 100)
  return priority <= high + 0 and 'high' or priority <= low + 0 and 'normal' or 'low'
end

function shelves.rank(shelf)
  local band, round = string.match(shelf, '^(%l+):?(%d*)')
  return (band == 'high' and 0 or band == 'normal' and 1000 or 2000) + (tonumber(round) or 1) * 2
    + (string.find(shelf, ':returned', 1, true) and 0 or 1)
end

local function read_names(row) return row == '' and queue.shelves or redis.call('HGET', keys.rows, row) or '' end

local function write_names(row, names)
  local text = table.concat(names, ' ')
  if row == '' then
    queue.shelves = text
  elseif names[1] then
    redis.call('HSET', keys.rows, row, text)
  else
    redis.call('HDEL', keys.rows, row)
  end
end

-- Records that from now on the queue may have more than a plain row.
function shelves.mix()
  if queue.mode == 'open' then queue.mode = 'mixed' end
  redis.call('HSET', keys.ledger, 'mixed', 1)
end

-- An iterator over the names of a row's shelves that may hold something.
function shelves.names(row) return string.gmatch(read_names(row), '%S+') end

-- Lists a shelf that is about to hold something.
function shelves.open(row, shelf)
  local names = {}
  for name in shelves.names(row) do
    if name == shelf then return end
    names[#names + 1] = name
  end
  if row ~= '' and not names[1] then shelves.mix() end
  names[#names + 1] = shelf
  table.sort(names, function(a, b) return shelves.rank(a) < shelves.rank(b) end)
  write_names(row, names)
end

-- Removes an empty shelf from the list.
function shelves.close(row, shelf)
  local names = {}
  for name in shelves.names(row) do
    if name ~= shelf then names[#names + 1] = name end
  end
  write_names(row, names)
end

-- Calls `visit` with the row and the name of each shelf that may hold something, the plain row first.
function shelves.each(visit)
  for shelf in string.gmatch(queue.shelves, '%S+') do visit('', shelf) end
  local fields = queue.mode ~= 'open' and redis.call('HGETALL', keys.rows) or {}
  for i = 1, #fields, 2 do
    for shelf in string.gmatch(fields[i + 1], '%S+') do visit(fields[i], shelf) end
  end
end

-- How many items wait, and since when the oldest one has waited; math.huge if none waits.
function shelves.sum()
  local waiting_count, oldest_time = 0, math.huge
  shelves.each(function(row, shelf)
    local key = shelves.key(row, shelf)
    waiting_count = waiting_count + redis.call('ZCARD', key)
    oldest_time = math.min(oldest_time, tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] or math.huge))
  end)
  return waiting_count, oldest_time
end

-- Removes the rows whose shelves are empty from the hash `rows`, except those in `needed_rows`, by name. Returns
-- how many.
function shelves.drop_empty_rows(needed_rows)
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
function shelves.too_many_rows(needed_rows)
  local excess = redis.call('HLEN', keys.rows) - shelves.ROW_LIMIT
  for row in pairs(needed_rows) do excess = excess + 1 - redis.call('HEXISTS', keys.rows, row) end
  return excess > 0 and excess > shelves.drop_empty_rows(needed_rows)
end
