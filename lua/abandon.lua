#!lua flags=allow-oom
--[[ Gives an item back: it returns to inbound, ahead of what never left.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:late
ARGV   1 the time in microseconds, or ''   2 id   3 token   4 person   5 reason as JSON
REPLY  {'ok'}   {'lost', 0, the item}   {'no-item'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, JOURNAL, HISTORY, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local id, person = ARGV[2], ARGV[4]
local status, grant = unpack(call('HMGET', LEDGER, 'status', 'g:' .. id))
if not status then return { 'no-item' } end
--- @include ledger
--- @include now
--- @include save
--- @include shelves
--- @include item
--- @include place
--- @include grant
--- @include claimed
--- @include where
--- @include held
--- @include end_grant
--- @include describe
--- @include lost
local held, replayed = claimed(grant, ARGV[3] .. '\t' .. person .. '\t', 'abandoned')
if replayed then return { 'ok' } end
if not held then return lost(id) end
local item = read_item(id)
end_grant(item, grant, 'abandoned ' .. at .. ' ' .. ARGV[5])
place(item, band_of(item.p) .. ':returned', now)
call('ZREM', RESERVED, id)
count('abandoned')
save()
call('XADD', JOURNAL, at, 'abandoned', id .. '\t' .. ARGV[3] .. '\t' .. person .. '\t' .. ARGV[5])
return { 'ok' }
