-- Whether a list's filter names an assignment; in the list by due date, any one of the item's. Needs: state. Sets:
-- room, by the bytes that it read.
local prefix, person, how, text, skill = ARGV[11], ARGV[12], ARGV[13], string.lower(ARGV[14]), ARGV[15]

local function said(ending, detail)
  if ending == 'failed' then detail = string.match(detail, ' (.*)') end
  if ending ~= 'failed' and ending ~= 'abandoned' then return '' end
  local reason = cjson.decode('[' .. (detail or 'null') .. ']')[1]
  return type(reason) == 'string' and string.lower(reason) or ''
end

local function fits(block)
  local whose = string.match(block, '^%d+\t([^\t]*)\t')
  if person ~= '' and whose ~= person then return false end
  local ending, detail = string.match(block, '\n(%l+) ?%d* ?([^\n]*)')
  if how ~= '' and (ending or 'held') ~= how then return false end
  return text == '' or ending ~= nil and string.find(said(ending, detail), text, 1, true) ~= nil
end

local function has_such_a_lease(member)
  local grant, history = call('HGET', LEDGER, 'g:' .. member), call('HGET', HISTORY, member)
  room = room - #(grant or '') - #(history or '')
  for block in string.gmatch((history or '') .. '\n\n', '(.-)\n\n') do
    if block ~= '' and fits(block) then return true end
  end
  return grant and fits(grant)
end

local function wanted_one(member)
  if skill ~= '' or how == 'assigned' then
    local item = read_item(member)
    if not item then return false end
    room = room - #item.payload
    if skill ~= '' and not string.find(',' .. (item.r or '') .. ',', ',' .. skill .. ',', 1, true) then return false end
    if how == 'assigned' then
      return item.o ~= nil and text == '' and (person == '' or string.gsub(item.o, '\a', ' ') == person)
    end
  end
  return person == '' and how == '' and text == '' or has_such_a_lease(member)
end

local function wanted(member)
  if string.sub(member, 1, #prefix) ~= prefix then return false end
  if state ~= 'due' then return wanted_one(member) end
  for _, other in ipairs(assignments(member)) do
    if wanted_one(other) then return true end
  end
  return false
end
