-- Gives `person` the next item: sets `reply`, and adds to `changes` (of the ledger) and `events`.
-- No function is made here unless something is out of the ordinary: making one costs as much as a
-- command. Every write of a destination comes before the removal of its source.
local reply
if (soonest and now >= soonest + 0) or (holdings and string.find(holdings, '\t', 1, true) < #holdings) then
  --- @include count
  --- @include shelves
  --- @include item
  --- @include place
  --- @include grant
  --- @include held
  --- @include note
  --- @include end_grant
  --- @include sweep
  --- @include draft
  --- @include holdings
  call('HSET', LEDGER, unpack(changes))
  -- A few leases that ran out, so that a dead clear job keeps nobody waiting.
  if soonest and now >= soonest + 0 then sweep(8) end
  holdings = call('HGET', LEDGER, 'p:' .. person)
  if holdings then
    reply = lease_in_hand(person, request, holdings)
    holdings = call('HGET', LEDGER, 'p:' .. person)
  end
  at = string.format('%.0f', now)
  changes = { 'clock', at }
end

local next_id, shelf
while not reply and not paused and shelves ~= '' do
  local name = string.match(shelves, '^%S+')
  shelf = name == 'normal' and INBOUND or INBOUND .. ':' .. name
  next_id = call('ZRANGE', shelf, 0, 0)[1]
  if next_id then break end
  shelves = string.sub(shelves, #name + 2)
  call('HSET', LEDGER, 'shelves', shelves)
end

if next_id then
  local record = call('HGET', ITEMS, next_id)
  local attempt, marks, draft = 1, '', false
  if string.byte(record, 17) ~= 10 then
    --- @include item
    --- @include draft
    --- @include taken_before
    attempt, marks, draft = taken_before(next_id, person)
  end
  token = token + 1
  local grant = token .. '\t' .. person .. '\t' .. at .. ' ' .. lease_seconds .. ' ' .. attempt .. marks
  local expires = now + lease_seconds * 1000000
  call('ZADD', RESERVED, expires, next_id)
  if not soonest or expires < soonest + 0 then
    call('HSET', LEDGER, 'soonest', string.format('%.0f', expires))
  end
  holdings = request .. (holdings and string.match(holdings, '\t.*') or '\t') .. next_id .. '\t'
  call('HSET', LEDGER, 'token', token, 'g:' .. next_id, grant, 'p:' .. person, holdings, unpack(changes))
  call('ZREM', shelf, next_id)
  local n = #events
  events[n + 1], events[n + 2] = 'reserved', next_id .. '\t' .. token .. '\t' .. person
  reply = { 'leased', next_id, grant, record, draft }
elseif events[1] then
  call('HSET', LEDGER, unpack(changes))
end
if events[1] then call('XADD', JOURNAL, at, unpack(events)) end
