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
local shelves = {}

function shelves.key(row, shelf)
  if row ~= '' then return keys.inbound .. ':' .. row .. ':' .. shelf end
  return shelf == 'normal' and keys.inbound or keys.inbound .. ':' .. shelf
end

function shelves.row(item)
  if item.assignee then return '@' .. (string.gsub(item.assignee, '\a', ' ')) end
  return item.requires and (string.gsub(item.requires, ',', '+')) or ''
end

function shelves.key_of(item) return shelves.key(shelves.row(item), item.shelf or 'normal') end

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
    queue.shelves = names[1] and ' ' .. text or ''
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

-- Lists a shelf that is about to hold something.
function shelves.open(row, shelf)
  local names = {}
  for name in string.gmatch(read_names(row), '%S+') do
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
  for name in string.gmatch(read_names(row), '%S+') do
    if name ~= shelf then names[#names + 1] = name end
  end
  write_names(row, names)
end
