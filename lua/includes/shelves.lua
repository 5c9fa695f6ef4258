-- Inbound is a row of shelves; `shelves` names those that may hold something, in order of precedence,
-- so a reserve looks at one shelf however many there could be. The caller saves.
local PRECEDENCE = { 'high:returned', 'high', 'normal:returned', 'normal', 'low:returned', 'low' }

local function shelf_key(name)
  if name == 'normal' then return INBOUND end
  return INBOUND .. ':' .. name
end

local function is_open(name)
  return string.find(shelves .. ' ', ' ' .. name .. ' ', 1, true) ~= nil
end

local function open_shelf(name)
  if is_open(name) then return end
  local named = ''
  for _, other in ipairs(PRECEDENCE) do
    if other == name or is_open(other) then named = named .. ' ' .. other end
  end
  shelves = named
end

local function band_of(priority)
  priority = (priority or 100) + 0
  if priority <= low_band + 0 then return 'high' end
  if priority <= high_band + 0 then return 'normal' end
  return 'low'
end
