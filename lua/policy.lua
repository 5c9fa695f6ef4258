#!lua flags=no-writes
--[[ Reads the policy.

KEYS   1 leaseq:{q}:ledger
ARGV   1 the time (not used)   then the names of the fields that are not among the rules
REPLY  {'policy', status, rules, value as JSON, …}   {'no-queue'} ]]
local values = redis.call('HMGET', KEYS[1], 'status', 'rules', unpack(ARGV, 2))
local status = values[1]
if not status then return { 'no-queue' } end
--- @include status
table.insert(values, 1, 'policy')
return values
