#!lua flags=allow-oom
--[[ Stops reserve; held items may still be renewed and finished.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''   2 by whom, or ''   3 the reason as JSON
REPLY  {'ok'}   {'no-queue'} ]]
local by, reason = ARGV[2], ARGV[3]
--- @include journal
local refusal = queue.open()
if refusal then return refusal end
if redis.call('HGET', keys.ledger, 'paused') == reason then return { 'ok' } end
queue.mode = 'paused'
redis.call('HSET', keys.ledger, 'paused', reason)
journal.note('paused', '', '', by, reason)
commit()
return { 'ok' }
