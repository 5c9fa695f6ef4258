#!lua flags=no-writes
--[[ The state of a queue apart from its policy and its items, for a backup.

KEYS   1 leaseq:{q}:ledger
ARGV   1 the time in microseconds, or ''   then the names of the counters
REPLY  {'state', the server's time, clock and token (see lib/status.lua), whether the queue has more than a
       plain row 0|1, the pause's reason as JSON or '', the latest requests of enqueue or '', those of change
       or '', who is stopped as `stopped` has it {person, text, …}, counter, …}
       {'no-queue'} ]]
--- @include queue
local refusal = queue.open(true)
if refusal then return refusal end
local is_mixed, pause_reason, request, changes = unpack(redis.call('HMGET', keys.ledger, 'mixed', 'paused', 'request', 'changes'))
local reply = { 'state', stamp(queue.now - queue.skew), stamp(queue.clock), stamp(queue.token), is_mixed and 1 or 0,
  pause_reason or '', request or '', changes or '', redis.call('HGETALL', keys.stopped) }
for i = 2, #ARGV do
  local name, count = ARGV[i], redis.call('HGET', keys.ledger, 'n:' .. ARGV[i]) or 0
  reply[#reply + 1] = name == 'reserved' and stamp(queue.token - count) or name == 'finished' and queue.finished or count
end
return reply
