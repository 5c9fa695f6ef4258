#!lua flags=allow-oom
--[[ Stops reserve; what is held may still be renewed and finished.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''   2 by whom, or ''   3 the reason as JSON
REPLY  {'ok'}   {'no-queue'} ]]
local call = redis.call
local LEDGER, JOURNAL = KEYS[1], KEYS[2]
local status, paused = unpack(call('HMGET', LEDGER, 'status', 'paused'))
if not status then return { 'no-queue' } end
if paused == ARGV[3] then return { 'ok' } end
--- @include status
--- @include now
--- @include save
open = 'paused'
call('HSET', LEDGER, 'paused', ARGV[3])
save()
call('XADD', JOURNAL, at, 'paused', '\t\t' .. ARGV[2] .. '\t' .. ARGV[3])
return { 'ok' }
