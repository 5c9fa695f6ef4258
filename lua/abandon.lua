#!lua flags=allow-oom
--[[ Gives an item back: it returns to inbound, ahead of what never left. The person sees it again only
when nothing else waits for them, or never; then what else of it was assigned to them is anybody's. An item
that too many people gave back dies.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:late
ARGV   1 the time in microseconds, or ''   2 id   3 token   4 person   5 reason as JSON
       6 whether they may have it again: later or never
REPLY  {'ok'}   {'lost', 0, the item}   {'no-item'}   {'no-queue'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, JOURNAL, HISTORY, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local id, person, again = ARGV[2], ARGV[4], ARGV[6]
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
--- @include grant
--- @include past
--- @include claimed
--- @include where
--- @include held
--- @include end_grant
--- @include describe
--- @include lost
--- @include bars
--- @include put_off
--- @include die
--- @include unassign
local member, grant, over = claimed(id, ARGV[3] .. '\t' .. person .. '\t', 'abandoned')
if over then return { 'ok' } end
if not grant then return lost(id) end
local item = read_item(member)
end_grant(item, grant, 'abandoned ' .. at .. ' ' .. ARGV[5])
item.o = nil
local bars = set_bar(id, person, again == 'later' and '~' or '-')
mark(person)
count('abandoned')
note('abandoned', id .. '\t' .. ARGV[3] .. '\t' .. person .. '\t' .. ARGV[5])
local _, people = string.gsub(bars, '\t[~-]', '')
if people >= (tonumber(max_abandons) or math.huge) or died_before(item) then
  die(item, now, ARGV[3] .. '\t' .. person)
else
  place(item, true, now)
  if again == 'later' then put_off(item, person) end
end
if again == 'never' and string.find(bars, '\t@' .. person .. '\t', 1, true) then
  unassign(id, person, member)
end
call('ZREM', RESERVED, member)
tell()
return { 'ok' }
