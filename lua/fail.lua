#!lua flags=allow-oom
--[[ Says that an item can't be done: it is tried again after a back-off, or dies when its attempts are
used up. The wait is retry_seconds, doubled for each failure after the first, at most
retry_max_seconds, and up to a quarter shorter by chance, so that items which failed together do not
come back together (AWS Architecture Blog, "Exponential Backoff And Jitter").

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:late
ARGV   1 the time in microseconds, or ''   2 id   3 token   4 person   5 error as JSON
REPLY  {'retry', due in microseconds}   {'dead'}   {'lost', 0, the item}   {'no-item'}   {'no-queue'} ]]
local id, token, person, failure = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
--- @include deaths
--- @include claims
--- @include describe
local refused = queue.open()
if refused then return refused end
local member, grant, over = claims.held(id, token, person, 'failed')
if over then
  local due = string.match(over.detail, '^%d+')
  return due == '0' and { 'dead' } or { 'retry', due }
end
if not grant then return lost(id) end

local item = items.read(member)
local dead, failures = deaths.count_failure(item)
local due = 0
if not dead then
  math.randomseed(queue.now % 2147483647)
  -- equivalent mutant: limit:4: a microsecond doubled 40 times is longer than a week, which is the longest wait
  local wait = math.min(queue.rules.retry_seconds * 2 ^ math.min(failures - 1, 40), queue.rules.retry_max_seconds + 0)
  due = math.floor(queue.now + wait * 1000000 * (1 - math.random() / 4) + 0.5)
end
leases.close(item, grant, 'failed', stamp(due) .. ' ' .. failure)
queue.count('failed')
journal.note('failed', id, token, person, failure)
if dead then
  deaths.die(item, token, person)
elseif due == queue.now then
  places.put(item, true)
else
  redis.call('ZADD', keys.scheduled, due, member)
  items.write(item)
  queue.expect(due)
end
redis.call('ZREM', keys.reserved, member)
commit()
return dead and { 'dead' } or { 'retry', stamp(due) }
