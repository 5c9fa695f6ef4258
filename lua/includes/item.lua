-- An item's record: the head, a newline, the payload. The head is when it was enqueued (11 hexadecimal
-- digits of milliseconds) and then only what is not the default, a letter each: a attempts, f failures,
-- x died while some of it was held, m max attempts, p priority, d due, r skills, o the one person it is assigned to (with \a for a
-- space), s shelf (where it isn't `normal`), w somebody has a draft.
local HEAD = { 'a', 'f', 'x', 'm', 'p', 'd', 'r', 'o', 's', 'w' }

local function read_item(id)
  local record = call('HGET', ITEMS, id)
  if not record then return nil end
  local newline = string.find(record, '\n', 1, true)
  local item = { id = id, at = string.match(record, '^%x+'), payload = string.sub(record, newline) }
  for letter, value in string.gmatch(string.sub(record, 1, newline - 1), ' (%l)(%S*)') do
    item[letter] = value
  end
  return item
end

local function write_item(item)
  local head = item.at
  for _, letter in ipairs(HEAD) do
    if item[letter] then head = head .. ' ' .. letter .. item[letter] end
  end
  call('HSET', ITEMS, item.id, head .. item.payload)
end

local function row_of(item)
  if item.o then return '@' .. (string.gsub(item.o, '\a', ' ')) end
  return item.r and (string.gsub(item.r, ',', '+')) or ''
end
