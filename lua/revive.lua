#!lua flags=allow-oom
--[[ Brings a dead item back to inbound with its failures forgotten. One that is not dead and not
finished is left as it is.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:late   11 leaseq:{q}:drafts
ARGV   1 the time in microseconds, or ''   2 id   3 by whom, or ''
REPLY  {'item', the item}   {'wrong-state', the item}   {'no-item'}   {'no-queue'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, JOURNAL, HISTORY, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local id = ARGV[2]
local status = call('HGET', LEDGER, 'status')
if not status then return { 'no-queue' } end
--- @include ledger
--- @include now
--- @include save
--- @include note
--- @include assignments
--- @include shelves
--- @include item
--- @include place
--- @include where
--- @include describe
--- @include bars
--- @include due
local first = read_item(id)
if not first then return { 'no-item' } end
local revived, waiting, unfinished = {}, {}, false
for _, member in ipairs(assignments(id)) do
  local state, _, set = where(read_item(member))
  if state == 'dead' then revived[#revived + 1] = member end
  if state == 'inbound' then waiting[#waiting + 1] = { member, set } end
  unfinished = unfinished or state ~= 'finished'
end
if not unfinished then return { 'wrong-state', describe(id) } end
if revived[1] then
  first.f, first.x = nil, nil
  write_item(first)
  lift_bars(id)
  if first.d then call('ZADD', DUE, first.d, id) end
end
for _, member in ipairs(revived) do
  place(read_item(member), true, now)
  call('ZREM', DEAD, member)
  count('revived')
  note('revived', id .. '\t\t' .. ARGV[3])
  now = now + 1
end
if revived[1] then
  for _, one in ipairs(waiting) do -- whom it is no longer barred to looked past it: a fresh entry
    local item = read_item(one[1])
    place(item, true, now)
    if shelf_key(row_of(item), item.s) ~= one[2] then call('ZREM', one[2], item.id) end
    now = now + 1
  end
end
if events[1] then tell() end
return { 'item', describe(id) }
