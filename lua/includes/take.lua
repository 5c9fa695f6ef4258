-- Gives `person` the next item and sets `reply`. A finish just before it comes along, to be written by
-- the same two commands: `done`, its grant with the answer, and `whom`, its event.
-- Needs: the status, holdings, skills, at, now, request, who waits (waiter, woken), and after a finish id,
-- done, whom. Sets: reply.
-- No function is made here unless something is out of the ordinary: making one costs as much as half
-- a command. Every write of a destination comes before the removal of its source.
local reply
local tab = holdings and string.find(holdings, '\t', 1, true) -- what they hold is behind it
if #at ~= #soonest or at >= soonest or (tab and tab < #holdings) then
  --- @include look_first
end

-- next_id is the assignment, next_item the item's id; for a plain item they are the same.
local next_id, next_item, shelf, record, emptied
local attempt, marks, draft = '1', '', false
local marked = holdings and string.byte(holdings) == 32
local careful = open == 'mixed' or (open == 'open' and marked)
if not careful then
  while not reply and open == 'open' and shelves ~= '' do
    if shelves == ' normal' then
      shelf = INBOUND
    else
      local name = string.match(shelves, '^ (%S+)')
      shelf = name == 'normal' and INBOUND or INBOUND .. ':' .. name
    end
    next_id = call('ZRANGE', shelf, 0, 0)[1]
    record = next_id and call('HGET', ITEMS, next_id)
    if record then break end
    if next_id then
      call('ZREM', shelf, next_id) -- an enqueue that the server broke off, and so never acknowledged
    else
      shelves, emptied = string.match(shelves, '^ %S+(.*)$'), true
    end
  end
  next_item = next_id
  if record and string.byte(record, 12) ~= 10 then -- its head says more than when it was enqueued
    --- @include other_keys
    --- @include rules
    --- @include item
    local item, barred = read_item(next_id), false
    if item.a then -- it was out, perhaps to them; the mark is gone where they were away: see tidy.lua
      --- @include bars
      barred = bar_of(call('HGET', BARS, next_id), person)
    end
    if barred then
      marked, careful, record = true, true, nil
    else
      --- @include draft
      --- @include taken_before
      attempt, marks, draft = taken_before(item, next_item, person)
    end
  end
end
if careful then
  --- @include take_with_care
end

if record then
  token = string.format('%d', token + 1) -- spelled out once: a number would be at each use
  local expires = now + lease_seconds * 1000000
  if expires < soonest + 0 then soonest = string.format('%.0f', expires) end
  call('ZADD', RESERVED, expires, next_id)
  local grant = token .. '\t' .. person .. '\t' .. at .. ' ' .. lease_seconds .. ' ' .. attempt .. marks
  local event = next_item .. '\t' .. token .. '\t' .. person
  holdings = request .. (tab and string.sub(holdings, tab) or '\t') .. next_id .. '\t'
  --- @include join_status
  if done then
    call('HSET', LEDGER, 'status', status, 'p:' .. person, holdings, 'g:' .. next_id, grant, 'g:' .. id, done)
    call('ZREM', shelf, next_id)
    call('XADD', JOURNAL, at, 'finished', whom, 'reserved', event)
  else
    call('HSET', LEDGER, 'status', status, 'p:' .. person, holdings, 'g:' .. next_id, grant)
    call('ZREM', shelf, next_id)
    call('XADD', JOURNAL, at, 'reserved', event)
  end
  reply = { 'leased', next_item, grant, record, draft or nil }
elseif done then
  --- @include write_finish
elseif emptied then
  --- @include join_status
  call('HSET', LEDGER, 'status', status)
end
