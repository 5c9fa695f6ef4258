#!lua flags=allow-oom
--[[ Says that an item can't be done: it is tried again after a back-off, or dies when its attempts are
used up. The wait is retry_seconds, doubled for each failure after the first, at most
retry_max_seconds, and up to a quarter shorter by chance, so that what failed together does not
come back together (full jitter on the top quarter; see AWS Architecture Blog, "Exponential Backoff
And Jitter").

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:late
ARGV   1 the time in microseconds, or ''   2 id   3 token   4 person   5 error as JSON
REPLY  {'retry', due in microseconds}   {'dead'}   {'lost', 0, the item}   {'no-item'}   {'no-queue'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, JOURNAL, HISTORY, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local id, person = ARGV[2], ARGV[4]
local status = call('HGET', LEDGER, 'status')
if not status then return { 'no-queue' } end
--- @include ledger
--- @include now
--- @include save
--- @include note
--- @include assignments
--- @include shelves
--- @include item
--- @include place
--- @include grant
--- @include past
--- @include claimed
--- @include where
--- @include held
--- @include soonest
--- @include end_grant
--- @include describe
--- @include lost
--- @include die
local member, grant, over = claimed(id, ARGV[3] .. '\t' .. person .. '\t', 'failed')
if over then
  local due = string.match(over, '\nfailed %d+ (%d+)')
  return due == '0' and { 'dead' } or { 'retry', due }
end
if not grant then return lost(id) end
local item = read_item(member)
local dead, failures = count_failure(item)
local due = '0'
if not dead then
  math.randomseed(now % 2147483647)
  local wait = math.min(retry_seconds * 2 ^ math.min(failures - 1, 40), retry_max_seconds + 0)
  due = string.format('%.0f', now + wait * 1000000 * (1 - math.random() / 4))
end
local whom = ARGV[3] .. '\t' .. person
end_grant(item, grant, 'failed ' .. at .. ' ' .. due .. ' ' .. ARGV[5])
count('failed')
note('failed', id .. '\t' .. whom .. '\t' .. ARGV[5])
if dead then
  die(item, now, whom)
elseif due == at then
  place(item, true, now)
else
  call('ZADD', SCHEDULED, due, member)
  write_item(item)
  expect(due + 0)
end
call('ZREM', RESERVED, member)
tell()
return dead and { 'dead' } or { 'retry', due }
