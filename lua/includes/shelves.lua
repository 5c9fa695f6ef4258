-- Inbound is a row of shelves; `shelves` in the ledger names those that may hold something, in order
-- of precedence, so a reserve looks at one shelf however many there could be.
local PRECEDENCE = { 'high:returned', 'high', 'normal:returned', 'normal', 'low:returned', 'low' }

local function shelf_key(name)
  if name == 'normal' then return INBOUND end
  return INBOUND .. ':' .. name
end

local function is_open(name)
  return string.find(' ' .. shelves .. ' ', ' ' .. name .. ' ', 1, true) ~= nil
end

local function open_shelf(name)
  if is_open(name) then return end
  local open = {}
  for _, other in ipairs(PRECEDENCE) do
    if other == name or is_open(other) then open[#open + 1] = other end
  end
  shelves = table.concat(open, ' ')
  call('HSET', LEDGER, 'shelves', shelves)
end

local bands
local function band_of(priority)
  if not bands then
    local low, high = string.match(call('HGET', LEDGER, 'bands'), '(%d+), *(%d+)')
    bands = { low + 0, high + 0 }
  end
  priority = (priority or 100) + 0
  if priority <= bands[1] then return 'high' end
  if priority <= bands[2] then return 'normal' end
  return 'low'
end
