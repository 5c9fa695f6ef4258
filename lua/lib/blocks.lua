--- @include queue
--[[ A list of texts in one field of a hash, separated by empty lines; an empty list has no field. The earlier
grants of an assignment are stored like this (see grants), and so are the late answers of an item:

late = token TAB person TAB arrived LF answer ]]
local blocks = { HISTORY_BYTES = 65536, LATE_BYTES = 1048576 } -- to keep calls short; one block always fits

function blocks.each(key, field) return string.gmatch((redis.call('HGET', key, field) or '') .. '\n\n', '(.-)\n\n') end

function blocks.read(key, field)
  local list = {}
  for block in blocks.each(key, field) do
    if block ~= '' then list[#list + 1] = block end
  end
  return list
end

function blocks.write(key, field, list)
  if list[1] then
    redis.call('HSET', key, field, table.concat(list, '\n\n'))
  else
    redis.call('HDEL', key, field)
  end
end

-- The index of the latest block that begins with a token and, if given, a person.
function blocks.find(list, token, person)
  local claim = token .. '\t' .. (person and person .. '\t' or '')
  for i = #list, 1, -1 do
    if string.sub(list[i], 1, #claim) == claim then return i end
  end
end

-- Replaces a person's name. Returns whether it occurred.
function blocks.rename(key, field, person, to)
  local list, is_named = blocks.read(key, field), false
  for i, block in ipairs(list) do
    local token, name, rest = string.match(block, '^(%d+)\t([^\t]*)(\t.*)$')
    if name == person then list[i], is_named = token .. '\t' .. to .. rest, true end
  end
  if is_named then blocks.write(key, field, list) end
  return is_named
end

-- Whether one of the blocks belongs to a person.
function blocks.has_person(key, field, person)
  for block in blocks.each(key, field) do
    if string.match(block, '^%d+\t([^\t]*)\t') == person then return true end
  end
  return false
end

-- Adds an assignment's latest grant to its history. If there is no room, the oldest are dropped.
function blocks.keep_latest_grant(member)
  local history = redis.call('HGET', keys.history, member)
  local text = (history and history .. '\n\n' or '') .. redis.call('HGET', keys.ledger, 'g:' .. member)
  while #text > blocks.HISTORY_BYTES do text = string.match(text, '\n\n(.*)$') end
  redis.call('HSET', keys.history, member, text)
end
