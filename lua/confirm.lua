#!lua flags=allow-oom
--[[ Writes the policy's `durable` as it is, so that a WAIT or WAITAOF behind it, on the same connection,
waits for all that was written before. Changes nothing.

KEYS   1 leaseq:{q}:ledger
ARGV   1 the time (not used)
REPLY  {'ok'} ]]
local durable = redis.call('HGET', KEYS[1], 'durable')
if durable then redis.call('HSET', KEYS[1], 'durable', durable) end
return { 'ok' }
