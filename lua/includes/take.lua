-- Grants the next item to a person. What it changes in the ledger goes into `changes`, which the
-- script writes in one call. Every write of a destination comes before the removal of its source.
-- An item that was held before: its last grant joins the history, a draft comes along.
local function taken_again(id, person)
  local item = read_item(id)
  local draft = false
  if item.a then
    local past = call('HGET', LEDGER, 'g:' .. id)
    local history = call('HGET', HISTORY, id)
    call('HSET', HISTORY, id, history and history .. '\n\n' .. past or past)
  end
  if item.w then draft = draft_for(id, person) end
  return (item.a or 0) + 1, item.w and ' w' or '', draft
end

local function next_waiting()
  while shelves ~= '' do
    local name = string.match(shelves, '^%S+')
    local shelf = shelf_key(name)
    local id = call('ZRANGE', shelf, 0, 0)[1]
    if id then return id, shelf end
    shelves = string.sub(shelves, #name + 2)
    call('HSET', LEDGER, 'shelves', shelves)
  end
end

local function take(person, request, holdings)
  local id, shelf = next_waiting()
  if not id then return { 'nothing' } end
  local record = call('HGET', ITEMS, id)
  local attempt, marks, draft = 1, '', false
  if string.byte(record, 17) ~= 10 then attempt, marks, draft = taken_again(id, person) end

  token = token + 1
  local grant = token .. '\t' .. person .. '\t' .. at .. ' ' .. lease_seconds .. ' ' .. attempt .. marks
  local expires = now + lease_seconds * 1000000
  call('ZADD', RESERVED, expires, id)
  if not soonest or expires < soonest + 0 then expect(expires) end
  if holdings then
    holdings = request .. string.match(holdings, '\t.*') .. id .. '\t'
  else
    holdings = request .. '\t' .. id .. '\t'
  end
  local n = #changes
  changes[n + 1], changes[n + 2] = 'token', token
  changes[n + 3], changes[n + 4] = 'p:' .. person, holdings
  changes[n + 5], changes[n + 6] = 'g:' .. id, grant
  call('ZREM', shelf, id)
  note('reserved', id .. '\t' .. token .. '\t' .. person)
  return { 'leased', id, grant, record, draft }
end
