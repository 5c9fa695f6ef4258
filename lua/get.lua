#!lua flags=no-writes
--[[ All that is known of one item.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items     3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead      7 leaseq:{q}:finished  8 leaseq:{q}:history
       9 leaseq:{q}:late
ARGV   1 the time (not used)   2 id
REPLY  {'item', {state, score, record, grant, history, late answers, the queue's max attempts, row,
       then the same of each further assignment}}
       {'no-item'}   {'no-queue'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, HISTORY, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local status = call('HGET', LEDGER, 'status')
if not status then return { 'no-queue' } end
--- @include ledger
--- @include assignments
--- @include shelves
--- @include item
--- @include where
--- @include describe
local known = describe(ARGV[2])
if not known then return { 'no-item' } end
return { 'item', known }
