#!lua flags=allow-oom
--[[ Looks at the queue by the rules of the policy field `alerts`: raises an alert where the measure is above its limit, and
resolves it where the measure is below 80 % of the limit, or the rule is gone. Clear says for which queues to call this.
Two at once do no harm: each alert is raised, and resolved, once.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:inbound  3 leaseq:{q}:reserved
       4 leaseq:{q}:dead      5 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''
REPLY  {'ok'}   {'no-queue'} ]]
--- @include alerts
--- @include inbound
--- @include journal_groups
local refused = queue.open()
if refused then return refused end
local policy, raised_before, idle_before = unpack(redis.call('HMGET', keys.ledger, 'alerts', 'raised', 'idle'))
local rules_now, before = alerts.rules(policy or ''), alerts.parse(raised_before or '')
local waiting, oldest = inbound.sum()
local SECOND = 1000000

-- Since when items wait and nobody holds one, as the field `idle` keeps it; nil where it is not so. A paused queue is not
-- idle: nobody can get its items.
local function idle_now()
  if waiting == 0 or queue.mode == 'paused' or redis.call('ZCARD', keys.reserved) > 0 then return nil end
  local since, token = string.match(idle_before or '', '^(%d+) (%d+)$')
  if token == stamp(queue.token) then return since end
  return stamp(queue.now)
end

local has_idle_rule = false
for _, rule in ipairs(rules_now) do has_idle_rule = has_idle_rule or rule.measure == 'idle' end
local idle_since = has_idle_rule and idle_now() or nil

-- The age of the oldest journal entry that a consumer group has not read; 0 where there is none, or no such group.
local function behind(group)
  local read = read_by_group()[group]
  local entry = read and redis.call('XRANGE', keys.journal, stamp(read + 1), '+', 'COUNT', 1)[1]
  return entry and queue.now - string.match(entry[1], '^%d+') or 0
end

local measures = { -- in microseconds; of `waiting` a million for each item
  waiting = function() return waiting * SECOND end,
  oldest = function() return queue.now - math.min(oldest, queue.now) end,
  dead = function()
    local died = redis.call('ZRANGE', keys.dead, 0, 0, 'WITHSCORES')[2] -- of the one that died first
    return died and queue.now - died or 0
  end,
  idle = function() return idle_since and queue.now - idle_since or 0 end,
  bridge = function() return behind('bridge') end,
  webhooks = function() return behind('webhooks') end,
}

local function detail(rule, value)
  return string.format('{"alert":"%s","limit":%s,"value":%d}', rule.measure, rule.limit, value)
end

local raised = {}
for _, rule in ipairs(rules_now) do
  local alert, measure = alerts.of(before, rule), measures[rule.measure]
  local value, limit = measure and measure() or 0, rule.limit * SECOND
  if alert and measure and value * 10 < limit * 8 then
    journal.note('alert.resolved', '', '', '', detail(rule, math.floor(value / SECOND)))
  elseif alert then
    raised[#raised + 1] = alert -- also by a rule of a newer version
  elseif value > limit then
    rule.since, rule.value = stamp(queue.now), stamp(math.ceil(value / SECOND)) -- above the limit as a whole number, too
    journal.note('alert.raised', '', '', '', detail(rule, rule.value))
    raised[#raised + 1] = rule
  end
end
for _, alert in ipairs(before) do
  local measure = measures[alert.measure]
  if not alerts.of(rules_now, alert) then
    local value = measure and math.floor(measure() / SECOND) or 0
    journal.note('alert.resolved', '', '', '', detail(alert, value))
  end
end

local text, idle = alerts.format(raised), idle_since and idle_since .. ' ' .. stamp(queue.token)
if raised_before and text == '' then
  redis.call('HDEL', keys.ledger, 'raised')
elseif text ~= (raised_before or '') then
  redis.call('HSET', keys.ledger, 'raised', text)
end
if idle_before and not idle then
  redis.call('HDEL', keys.ledger, 'idle')
elseif idle and idle ~= idle_before then
  redis.call('HSET', keys.ledger, 'idle', idle)
end
commit()
return { 'ok' }
