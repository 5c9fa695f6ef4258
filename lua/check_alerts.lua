#!lua flags=allow-oom
--[[ Applies the rules of the policy field `alerts`: raises an alert if the measure is above its limit, and
resolves it if the measure is below 80 % of the limit or 0, or if the rule is gone. The reply of clear says for
which queues to call this. Two concurrent calls do no harm: each alert is raised once and resolved once.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:inbound  3 leaseq:{q}:reserved
       4 leaseq:{q}:dead      5 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''   2 how many waiting items nobody may have, or '' if the caller does not
       know: then the rules about it are left as they are
REPLY  {'ok'}   {'no-queue'} ]]
--- @include alerts
--- @include shelves
--- @include journal
local refusal = queue.open()
if refusal then return refusal end
local rules_json, raised_text, idle_text, question_text = unpack(redis.call('HMGET', keys.ledger, 'alerts', 'raised', 'idle', 'question'))
local rule_list, old_alerts = alerts.rules(rules_json or ''), alerts.parse(raised_text or '')
local waiting_count, oldest_time = shelves.sum()
local SECOND, QUESTIONS, unreachable_count = 1000000, 100, tonumber(ARGV[2]) -- QUESTIONS: looked at in one call

-- Since when items have been waiting while nobody holds one, from the field `idle`; nil if that is not the
-- case. A paused queue is not idle: nobody can get its items.
local function find_idle_since()
  if waiting_count == 0 or queue.mode == 'paused' or redis.call('ZCARD', keys.reserved) > 0 then return nil end
  local since, token = string.match(idle_text or '', '^(%d+) (%d+)$')
  if token == stamp(queue.token) then return since end
  return stamp(queue.now)
end

local has_rule = {}
for _, rule in ipairs(rule_list) do has_rule[rule.measure] = true end
local idle_since = has_rule.idle and find_idle_since() or nil

-- When the oldest open question was asked, and what the field `question` gets. If there are more than QUESTIONS, each
-- call looks at the next ones: then it is the oldest that was found in this round and the last one.
local function find_oldest_question()
  local rank, found, last = string.match(question_text or '', '^(%d+) (%d+) (%d+)$')
  rank, found, last = (rank or 0) + 0, (found or NEVER) + 0, (last or NEVER) + 0
  local ids = redis.call('ZRANGE', keys.questions, rank, rank + QUESTIONS - 1)
  for _, record in ipairs(ids[1] and redis.call('HMGET', keys.items, unpack(ids)) or {}) do
    found = math.min(found, tonumber(string.match(record, '^%x+'), 16) * 1000)
  end
  rank = rank + QUESTIONS
  if #ids < QUESTIONS then rank, found, last = 0, NEVER, found end
  return math.min(found, last), string.format('%d %d %d', rank, found, last)
end
local oldest_question, question_record
if has_rule.question then oldest_question, question_record = find_oldest_question() end

-- The age of the oldest journal entry that a consumer group has not read; 0 without such an entry or group.
local function reading_lag(group)
  local position = journal.group_positions()[group]
  local entry = position and redis.call('XRANGE', keys.journal, stamp(position + 1), '+', 'COUNT', 1)[1]
  return entry and queue.now - string.match(entry[1], '^%d+') or 0
end

local measures = { -- in microseconds; for `waiting`, a million for each item
  waiting = function() return waiting_count * SECOND end,
  oldest = function() return queue.now - math.min(oldest_time, queue.now) end,
  dead = function()
    local death_time = redis.call('ZRANGE', keys.dead, 0, 0, 'WITHSCORES')[2] -- of the one that died first
    return death_time and queue.now - death_time or 0
  end,
  idle = function() return idle_since and queue.now - idle_since or 0 end,
  question = function() return math.max(queue.now - (oldest_question or NEVER), 0) end,
  unreachable = unreachable_count and function() return unreachable_count * SECOND end,
  bridge = function() return reading_lag('bridge') end,
  webhooks = function() return reading_lag('webhooks') end,
}

local function detail(rule, value)
  return string.format('{"alert":"%s","limit":%s,"value":%d}', rule.measure, rule.limit, value)
end

local new_alerts = {}
for _, rule in ipairs(rule_list) do
  local alert, measure = alerts.find(old_alerts, rule), measures[rule.measure]
  local value, limit = measure and measure() or 0, rule.limit * SECOND
  if alert and measure and (value * 10 < limit * 8 or value == 0) then
    journal.note('alert.resolved', '', '', '', detail(rule, math.floor(value / SECOND)))
  elseif alert then
    new_alerts[#new_alerts + 1] = alert -- also by a rule of a newer version
  elseif value > limit then
    rule.since, rule.value = stamp(queue.now), stamp(math.ceil(value / SECOND)) -- above the limit as a whole number, too
    journal.note('alert.raised', '', '', '', detail(rule, rule.value))
    new_alerts[#new_alerts + 1] = rule
  end
end
for _, alert in ipairs(old_alerts) do
  local measure = measures[alert.measure]
  if not alerts.find(rule_list, alert) then
    local value = measure and math.floor(measure() / SECOND) or 0
    journal.note('alert.resolved', '', '', '', detail(alert, value))
  end
end

local text, idle_record = alerts.format(new_alerts), idle_since and idle_since .. ' ' .. stamp(queue.token)
if raised_text and text == '' then
  redis.call('HDEL', keys.ledger, 'raised')
elseif text ~= (raised_text or '') then
  redis.call('HSET', keys.ledger, 'raised', text)
end
if question_record and question_record ~= question_text then redis.call('HSET', keys.ledger, 'question', question_record) end
if unreachable_count then redis.call('HSET', keys.ledger, 'unreachable', unreachable_count .. ' ' .. stamp(queue.now)) end
if idle_text and not idle_record then
  redis.call('HDEL', keys.ledger, 'idle')
elseif idle_record and idle_record ~= idle_text then
  redis.call('HSET', keys.ledger, 'idle', idle_record)
end
commit()
return { 'ok' }
