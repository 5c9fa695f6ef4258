#!lua flags=no-writes
--[[ The schema of a queue's keys, even one that this version does not know.

KEYS   1 leaseq:{q}:ledger
ARGV   1 the time (not used)
REPLY  {'schema', its number}   {'no-queue'} ]]
local status = redis.call('HGET', KEYS[1], 'status')
if not status then return { 'no-queue' } end
return { 'schema', string.match(status, '^v(%d+)') + 0 }
