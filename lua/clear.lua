#!lua flags=allow-oom
--[[ Returns items whose lease ran out, releases items that are due, ends those that nobody needs any more, and
forgets finished and dead items that the policy no longer keeps: at most `limit` items in total. Two concurrent
calls do no harm: each item is moved once. It also takes one step of removing what is left of people who are gone: see lib/tidy.lua.

KEYS   1 leaseq:{q}:ledger     2 leaseq:{q}:items  3 leaseq:{q}:inbound  4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled  6 leaseq:{q}:dead   7 leaseq:{q}:finished  8 leaseq:{q}:journal
       and, if something is to be forgotten, the keys of lib/queue.lua
ARGV   1 the time in microseconds, or ''   2 limit, 1 to 250
REPLY  {'ok', returned, released, died, more 0|1, forgotten, alerts 0|1: call check_alerts}   {'no-queue'} ]]
local call = redis.call
local LEDGER = KEYS[1]

-- The ordinary case: nothing ran out, nothing came due, nothing is to be forgotten.
local state, retention_text, full, tidy_text, alert_rules, raised_alerts =
  unpack(call('HMGET', LEDGER, 'status', 'retention', 'full', 'tidy', 'alerts', 'raised'))
if not state then return { 'no-queue' } end
local has_alerts = (raised_alerts or alert_rules and alert_rules ~= '[]') and 1 or 0
local clock, finished, next_sweep = string.match(state, TIMES_PATTERN)
if next_sweep then
  local time = ARGV[1] == '' and call('TIME')
  local now = time and time[1] * 1000000 + time[2] or ARGV[1] + 0
  if now > clock + 0 and now < next_sweep + 0 and now < string.match(tidy_text, '^%d+') + 0
    and (not retention_text or now < string.match(retention_text, '^%d+') + 0) and (not full or finished + 0 < full + 0) then
    return { 'ok', 0, 0, 0, 0, 0, has_alerts }
  end
end

-- Every other case.
--- @include forget
--- @include sweep
--- @include tidy
local TRIM_STEP = 100000 -- entries of the journal in one call

-- Ends items whose answer nobody needs any more; entries of those that have ended already are removed. `limit` bounds
-- how many are looked at. Returns how many there were, and how many died.
local function end_expired(limit)
  local count, dead_count = 0, 0
  for _, key in ipairs({ keys.expiring, keys.questions }) do
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', key, '-inf', stamp(queue.now), 'LIMIT', 0, limit - count)) do
      if journal.is_full() then return count, dead_count end
      queue.tick()
      local _, has_died = deaths.end_item(id, 'expired', '', false)
      if has_died then dead_count = dead_count + 1 end
      redis.call('ZREM', key, id)
      count = count + 1
    end
  end
  return count, dead_count
end

local limit = ARGV[2] + 0
local refusal = queue.open()
if refusal then return refusal end
local retention_state, tidy_state = retention_text and retention.parse(retention_text), tidy.parse(tidy_text)
local must_forget = retention_state and (queue.now >= retention_state.next_time or full and queue.finished >= full + 0)
local must_tidy = queue.now >= tidy_state.next_time
local lapse_count, lapse_deaths = 0, 0
if queue.mode ~= 'open' and queue.now >= queue.next_sweep then lapse_count, lapse_deaths = end_expired(limit) end
local return_count, release_count, death_count = sweep.run(limit - lapse_count)
local forget_count, has_more = 0, queue.next_sweep <= queue.now
if must_forget then
  local has_more_old
  forget_count, has_more_old = forget.run(retention_state, limit - lapse_count - return_count - release_count - death_count)
  has_more = has_more or has_more_old
end
if must_tidy then tidy.run(tidy_state) end
journal.trim(journal.ENTRIES, TRIM_STEP)
commit()
return { 'ok', return_count, release_count, death_count + lapse_deaths, has_more and 1 or 0, forget_count, has_alerts }
