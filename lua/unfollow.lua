#!lua flags=allow-oom
--[[ Ends a consumer group of the journal: nothing is kept for it any more.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:journal
ARGV   1 the time (not used)   2 the group's name
REPLY  {'ok'}   {'no-queue'} ]]
if redis.call('HEXISTS', KEYS[1], 'status') == 0 then return { 'no-queue' } end
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('XGROUP', 'DESTROY', KEYS[2], ARGV[2]) end
return { 'ok' }
