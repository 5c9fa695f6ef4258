#!lua flags=allow-oom
--[[ Brings a dead item back to inbound with its failures forgotten. One that is not dead and not
finished is left as it is.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:late   11 leaseq:{q}:drafts
ARGV   1 the time in microseconds, or ''   2 id   3 by whom, or ''
REPLY  {'item', the item}   {'wrong-state', the item}   {'no-item'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, JOURNAL, HISTORY, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local id = ARGV[2]
local status, grant = unpack(call('HMGET', LEDGER, 'status', 'g:' .. id))
if not status then return { 'no-item' } end
--- @include ledger
--- @include now
--- @include save
--- @include shelves
--- @include item
--- @include place
--- @include where
--- @include describe
--- @include manager
local item = read_item(id)
if not item then return { 'no-item' } end
local state = where(item)
if state == 'finished' then return { 'wrong-state', describe(id) } end
if state == 'dead' then
  item.f = nil
  place(item, band_of(item.p) .. ':returned', now)
  call('ZREM', DEAD, id)
  count('revived')
  moved('revived', id, '', ARGV[3])
end
return { 'item', describe(id) }
