#!lua flags=allow-oom
--[[ Rewrites the policy's `durable` with its current value, so that a WAIT or WAITAOF after it, on the same
connection, waits for all earlier writes. Changes nothing.

KEYS   1 leaseq:{q}:ledger
ARGV   1 the time (not used)
REPLY  {'ok'} ]]
local durable = redis.call('HGET', KEYS[1], 'durable')
if durable then redis.call('HSET', KEYS[1], 'durable', durable) end
return { 'ok' }
