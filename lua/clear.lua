#!lua flags=allow-oom
--[[ Returns items whose lease ran out, releases items that are due, and forgets finished and dead items that
the policy no longer keeps: at most `limit` items in total. Two concurrent calls do no harm: each item is
moved once. It also takes one step of removing what is left of people who are gone: see lib/tidy.lua.

KEYS   1 leaseq:{q}:ledger     2 leaseq:{q}:items  3 leaseq:{q}:inbound  4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled  6 leaseq:{q}:dead   7 leaseq:{q}:finished  8 leaseq:{q}:journal
       and, if something is to be forgotten, the keys of lib/keys.lua
ARGV   1 the time in microseconds, or ''   2 limit, 1 to 250
REPLY  {'ok', returned, released, died, more 0|1, forgotten, alerts 0|1: call check_alerts}   {'no-queue'} ]]
local call = redis.call
local LEDGER = KEYS[1]

-- The ordinary case: nothing ran out, nothing came due, nothing is to be forgotten.
local state, retain_state, tidy_state, alert_rules, raised_alerts =
  unpack(call('HMGET', LEDGER, 'status', 'forget', 'tidy', 'alerts', 'raised'))
if not state then return { 'no-queue' } end
local has_alerts = (raised_alerts or alert_rules and alert_rules ~= '[]') and 1 or 0
local clock, finished, next_sweep = string.match(state, '^v1 (%d+) %d+ (%d+) 0 (%d+) ')
local next_retain = retain_state and string.match(retain_state, '^%d+') or next_sweep
local full = retain_state and string.match(retain_state, '^%d+ %d+ (%d+) %d+$')
local next_tidy = string.match(tidy_state or '0', '^%d+')
if next_sweep then
  local time = ARGV[1] == '' and call('TIME')
  local now = time and time[1] * 1000000 + time[2] or ARGV[1] + 0
  if now > clock + 0 and now < next_sweep + 0 and now < next_retain + 0 and now < next_tidy + 0
    and not (full and finished + 0 >= full + 0) then
    return { 'ok', 0, 0, 0, 0, 0, has_alerts }
  end
end

-- Every other case.
--- @include retain
--- @include sweep
--- @include tidy
local limit = ARGV[2] + 0
local refusal = queue.open()
if refusal then return refusal end
local must_retain, must_tidy = retain.is_time(retain_state), tidy.is_time(tidy_state)
local return_count, release_count, death_count = sweep.run(limit)
local forget_count, has_more = 0, queue.next_sweep <= queue.now
if must_retain then
  local has_more_old
  forget_count, has_more_old = retain.run(retain_state, limit - return_count - release_count - death_count)
  has_more = has_more or has_more_old
end
if must_tidy then tidy.run(tidy_state) end
commit()

-- Trim the oldest entries of the journal: above ENTRIES, those that every consumer group has read; above
-- MAX_ENTRIES, any.
local STEP = 100000 -- in one call
local size = redis.call('XLEN', keys.journal)
if size > journal.ENTRIES then
  local position = lowest_position()
  if position == math.huge then
    redis.call('XTRIM', keys.journal, 'MAXLEN', '~', journal.ENTRIES, 'LIMIT', STEP)
  else
    redis.call('XTRIM', keys.journal, 'MINID', '~', stamp(position + 1), 'LIMIT', math.min(size - journal.ENTRIES, STEP))
  end
  redis.call('XTRIM', keys.journal, 'MAXLEN', '~', journal.MAX_ENTRIES, 'LIMIT', STEP)
end
return { 'ok', return_count, release_count, death_count, has_more and 1 or 0, forget_count, has_alerts }
