#!lua flags=allow-oom
--[[ Lets reserve go on.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''   2 by whom, or ''
REPLY  {'ok'}   {'no-queue'} ]]
local call = redis.call
local LEDGER, JOURNAL = KEYS[1], KEYS[2]
local clock, skew, known, paused = unpack(call('HMGET', LEDGER, 'clock', 'skew', 'lease_seconds', 'paused'))
--- @include now
if not known then return { 'no-queue' } end
if not paused then return { 'ok' } end
call('HDEL', LEDGER, 'paused')
call('HSET', LEDGER, 'clock', at)
call('XADD', JOURNAL, at, 'resumed', '\t\t' .. ARGV[2] .. '\t' .. '')
return { 'ok' }
