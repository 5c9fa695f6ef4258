#!lua flags=no-writes
--[[ Reads policy fields.

KEYS   1 leaseq:{q}:ledger
ARGV   1 the time (not used)   then the names of the fields
REPLY  {'policy', value as JSON, …}   {'no-queue'} ]]
local values = redis.call('HMGET', KEYS[1], 'lease_seconds', unpack(ARGV, 2))
if not values[1] then return { 'no-queue' } end
values[1] = 'policy'
return values
