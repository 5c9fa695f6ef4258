#!lua flags=no-writes
--[[ All that is known about one item.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items     3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead      7 leaseq:{q}:finished  8 leaseq:{q}:history
       9 leaseq:{q}:late
ARGV   1 the time (not used)   2 id
REPLY  {'item', {state, score, record, grant, history, late answers, the queue's max attempts, row,
       then a list of the same for each further assignment}}
       {'no-item'}   {'no-queue'} ]]
local id = ARGV[2]
--- @include describe
local refusal = queue.open(true)
if refusal then return refusal end
local description = describe(id)
return description and { 'item', description } or { 'no-item' }
