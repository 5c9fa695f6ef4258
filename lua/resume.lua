#!lua flags=allow-oom
--[[ Ends a pause.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''   2 by whom, or ''
REPLY  {'ok'}   {'no-queue'} ]]
local by = ARGV[2]
--- @include shelves
--- @include waiters
--- @include journal
local refusal = queue.open()
if refusal then return refusal end
if redis.call('HDEL', keys.ledger, 'paused') == 0 then return { 'ok' } end
queue.mode = redis.call('HEXISTS', keys.ledger, 'mixed') == 1 and 'mixed' or 'open'
journal.note('resumed', '', '', by, '')
commit()
if waiters.can_be_woken() then waiters.wake((shelves.sum())) end
return { 'ok' }
