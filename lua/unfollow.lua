#!lua flags=allow-oom
--[[ Removes a consumer group of the journal: nothing is kept for it any longer.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:journal
ARGV   1 the time (not used)   2 the group's name
REPLY  {'ok'}   {'no-queue'} ]]
--- @include queue
local refusal = queue.open(true)
if refusal then return refusal end
if redis.call('EXISTS', keys.journal) == 1 then redis.call('XGROUP', 'DESTROY', keys.journal, ARGV[2]) end
return { 'ok' }
