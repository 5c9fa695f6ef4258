#!lua flags=allow-oom
--[[ Takes the leases of an item away from whoever holds them, or from one person; it returns to inbound. An
item that nobody holds is left as it is.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:late   11 leaseq:{q}:drafts
ARGV   1 the time in microseconds, or ''   2 id   3 by whom, or ''   4 from whom, or '' for everybody
REPLY  {'item', the item}   {'no-item'}   {'no-queue'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, JOURNAL, HISTORY, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local id, whose = ARGV[2], ARGV[4]
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
--- @include where
--- @include held
--- @include end_grant
--- @include describe
--- @include die
--- @include let_go
local first = read_item(id)
if not first then return { 'no-item' } end
local died = died_before(first)
for _, member in ipairs(assignments(id)) do
  local grant = call('HGET', LEDGER, 'g:' .. member)
  if is_held(grant) and (whose == '' or string.match(grant, '^%d+\t([^\t]*)') == whose) then
    let_go(member, grant, ARGV[3], died)
    now = now + 1
  end
end
if events[1] then tell() end
return { 'item', describe(id) }
