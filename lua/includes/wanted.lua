-- Whether a list's filter names an assignment; in the list by due date, any one of the item's. Needs: state. Sets:
-- room, by the bytes that it read.
local prefix, person, how, text, skill = ARGV[11], ARGV[12], ARGV[13], string.lower(ARGV[14]), ARGV[15]
local returns = ARGV[16] ~= '' and ARGV[16] + 0 or 0

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

-- Its grants, the oldest first.
local function grants_of(member)
  local grant, history = call('HGET', LEDGER, 'g:' .. member), call('HGET', HISTORY, member)
  room = room - #(grant or '') - #(history or '')
  local found = {}
  for block in string.gmatch((history or '') .. '\n\n', '(.-)\n\n') do
    if block ~= '' then found[#found + 1] = block end
  end
  found[#found + 1] = grant or nil
  return found
end

local function has_such_a_lease(grants)
  for _, grant in ipairs(grants) do
    if fits(grant) then return true end
  end
  return false
end

local function so_many_gave_it_back(grants)
  local people, count = {}, 0
  for _, grant in ipairs(grants) do
    local whose = string.match(grant, '^%d+\t([^\t]*)\t')
    if string.find(grant, '\nabandoned ', 1, true) and not people[whose] then
      people[whose], count = true, count + 1
    end
  end
  return count >= returns
end

local function wanted_one(member)
  if skill ~= '' or how == 'assigned' then
    local item = read_item(member)
    if not item then return false end
    room = room - #item.payload
    if skill ~= '' and not string.find(',' .. (item.r or '') .. ',', ',' .. skill .. ',', 1, true) then return false end
    if how == 'assigned' then
      local theirs = item.o ~= nil and text == '' and (person == '' or string.gsub(item.o, '\a', ' ') == person)
      return theirs and (returns == 0 or so_many_gave_it_back(grants_of(member)))
    end
  end
  local about_leases = person ~= '' or how ~= '' or text ~= ''
  if not about_leases and returns == 0 then return true end
  local grants = grants_of(member)
  return (not about_leases or has_such_a_lease(grants)) and so_many_gave_it_back(grants)
end

local function wanted(member)
  if string.sub(member, 1, #prefix) ~= prefix then return false end
  if state ~= 'due' then return wanted_one(member) end
  for _, other in ipairs(assignments(member)) do
    if wanted_one(other) then return true end
  end
  return false
end
