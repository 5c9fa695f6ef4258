-- Inbound is rows of shelves: the plain row, one for each set of skills that waiting items require
-- (`fr+legal`), one for each person that items are assigned to (`@ann`). A row's shelves are a band
-- each, within it a round each (`normal:2`, for second answers), within it first what came back
-- (`normal:2:returned`). A list of those that may hold something is kept, in order of precedence: the
-- plain row's in the status, the others' in the hash ROWS.
local ROWS = string.sub(LEDGER, 1, -7) .. 'rows'
local MOST_ROWS = 500

local function shelf_key(row, shelf)
  if row ~= '' then return INBOUND .. ':' .. row .. ':' .. shelf end
  return shelf == 'normal' and INBOUND or INBOUND .. ':' .. shelf
end

local function rank_of(shelf)
  local band, round = string.match(shelf, '^(%l+):?(%d*)')
  return (band == 'high' and 0 or band == 'normal' and 1000 or 2000) + (tonumber(round) or 1) * 2
    + (string.find(shelf, ':returned', 1, true) and 0 or 1)
end

local function with_shelf(names, shelf)
  local rank, found, placed = rank_of(shelf), '', false
  for other in string.gmatch(names, '%S+') do
    if not placed and rank_of(other) > rank then
      found, placed = found .. ' ' .. shelf, true
    end
    found = found .. ' ' .. other
  end
  return placed and found or found .. ' ' .. shelf
end

-- From now on reserve looks with care: see choose.lua.
local function mix()
  if open == 'open' then open = 'mixed' end
  call('HSET', LEDGER, 'mixed', 1)
end

-- The caller saves.
local function open_shelf(row, shelf)
  local names = row == '' and shelves or call('HGET', ROWS, row) or ''
  if string.find(names .. ' ', ' ' .. shelf .. ' ', 1, true) then return end
  if row == '' then
    shelves = with_shelf(names, shelf)
  else
    if names == '' then mix() end
    call('HSET', ROWS, row, with_shelf(names, shelf))
  end
end

-- Forgets the rows that emptied since anybody looked, but for those wanted (by name). Gives how many.
local function drop_empty_rows(wanted)
  local rows, dropped = call('HGETALL', ROWS), 0
  for i = 1, #rows, 2 do
    local keys = {}
    for shelf in string.gmatch(rows[i + 1], '%S+') do keys[#keys + 1] = shelf_key(rows[i], shelf) end
    if not wanted[rows[i]] and call('EXISTS', unpack(keys)) == 0 then
      call('HDEL', ROWS, rows[i])
      dropped = dropped + 1
    end
  end
  return dropped
end

-- Whether these rows (by name) would be too many.
local function full_of_rows(wanted)
  local over = call('HLEN', ROWS) - MOST_ROWS
  for row in pairs(wanted) do over = over + 1 - call('HEXISTS', ROWS, row) end
  return over > 0 and over > drop_empty_rows(wanted)
end

-- All shelves that may hold something: `visit` is given row and shelf, the plain row first.
local function each_shelf(visit)
  for shelf in string.gmatch(shelves, '%S+') do visit('', shelf) end
  if open == 'open' then return end
  local rows = call('HGETALL', ROWS)
  for i = 1, #rows, 2 do
    for shelf in string.gmatch(rows[i + 1], '%S+') do visit(rows[i], shelf) end
  end
end

local function band_of(priority)
  priority = (priority or 100) + 0
  if priority <= low_band + 0 then return 'high' end
  if priority <= high_band + 0 then return 'normal' end
  return 'low'
end
