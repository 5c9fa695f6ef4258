#!lua flags=no-writes
--[[ Reads the policy.

KEYS   1 leaseq:{q}:ledger
ARGV   1 the time (not used)   then the names of the fields that are not rules
REPLY  {'policy', lease_seconds, form_version, rules, value as JSON, …}   {'no-queue'} ]]
--- @include queue
local refusal = queue.open(true)
if refusal then return refusal end
local texts = {}
if ARGV[2] then texts = redis.call('HMGET', keys.ledger, unpack(ARGV, 2)) end
return { 'policy', queue.lease_seconds, queue.form_version, rules.format(queue.rules), unpack(texts) }
