#!lua flags=no-writes
--[[ The number of items in each of the five states, the age of the oldest in inbound, the counters.

KEYS   1 leaseq:{q}:ledger     2 leaseq:{q}:inbound   3 leaseq:{q}:reserved
       4 leaseq:{q}:scheduled  5 leaseq:{q}:finished  6 leaseq:{q}:dead
ARGV   1 the time in microseconds, or ''   then the names of the counters
REPLY  {'stats', inbound, reserved, scheduled, finished, dead, the oldest's age in microseconds or nil,
       the pause's reason as JSON or nil, how many are overdue, how many calls wait for an item,
       the raised alerts (lib/alerts.lua) or nil, how many items nobody may have or nil if that was not measured
       lately, how many questions are open, the fields and values of answer_times,
       counter, …}
       {'no-queue'} ]]
--- @include shelves
--- @include waiters
local UNREACHABLE_SECONDS = 600 -- how long that figure counts
local refusal = queue.open(true)
if refusal then return refusal end
local waiting_count, oldest_time = shelves.sum()
local reply = { 'stats', waiting_count }
for i, state in ipairs({ 'reserved', 'scheduled', 'finished', 'dead' }) do
  reply[2 + i] = redis.call('ZCARD', keys[state])
end
reply[7] = oldest_time < math.huge and stamp(math.max(queue.now - oldest_time, 0))
reply[9] = redis.call('ZCOUNT', keys.due, '-inf', '(' .. stamp(queue.now))
reply[10] = waiters.count()
local unreachable
reply[8], reply[11], unreachable = unpack(redis.call('HMGET', keys.ledger, 'paused', 'raised', 'unreachable'))
local count, time = string.match(unreachable or '', '^(%d+) (%d+)$')
reply[12] = time ~= nil and queue.now - time <= UNREACHABLE_SECONDS * 1000000 and count
reply[13], reply[14] = redis.call('ZCARD', keys.questions), redis.call('HGETALL', keys.answer_times)
local counters = {}
for i = 2, #ARGV do counters[i - 1] = 'n:' .. ARGV[i] end
local counts = counters[1] and redis.call('HMGET', keys.ledger, unpack(counters)) or {}
for i, count in ipairs(counts) do
  local word = ARGV[i + 1]
  reply[14 + i] = word == 'reserved' and stamp(queue.token - (count or 0)) or word == 'finished' and queue.finished or count or 0
end
return reply
