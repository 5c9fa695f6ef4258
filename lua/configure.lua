#!lua
--[[ Writes policy fields, and creates the queue if there is none (then all fields must be given).
If nothing changes, nothing is written.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''   2 by whom, or ''   3 'create': only if there is no queue yet;
       a policy's version (see leaseq/policy.py): only if that policy is in force; else ''
       then a field, its value, …: lease_seconds and form_version are words of the status, the fields of
       lib/rules.lua are words of the rules, any other is a field of the ledger, with its value as JSON
REPLY  {'ok', created 0|1}   {'changed'}: another policy is in force, and nothing was written   {'no-queue'}
       {'deleting'}: an earlier queue is still being deleted, see delete_keys.lua, and nothing was written ]]
local by, condition = ARGV[2], ARGV[3]
--- @include journal
--- @include policy_version
--- @include retention
--- @include tidy
local refusal = queue.open(false, NEW_STATUS)
if refusal then return refusal end
local is_new, expected_version = redis.call('HEXISTS', keys.ledger, 'status') == 0, string.match(condition, '^%x+$')
if not is_new and condition == 'create' then return { 'ok', 0 } end
if is_new and expected_version then return { 'no-queue' } end
if expected_version and policy_version() ~= expected_version then return { 'changed' } end
if is_new and redis.call('HEXISTS', keys.ledger, 'deleted') == 1 then return { 'deleting' } end
if is_new and redis.call('HEXISTS', keys.ledger, 'loading') == 1 then
  return redis.error_reply('-RESTORING')
end

local function limits()
  local policy = queue.rules
  return (policy.keep_finished_seconds or '-') .. ' ' .. (policy.keep_finished_count or '-') .. ' '
    .. (policy.keep_dead_seconds or '-')
end
local old_limits, fields = limits(), {}
local is_changed = is_new
for i = 4, #ARGV, 2 do
  local name, value = ARGV[i], ARGV[i + 1]
  if name == 'lease_seconds' or name == 'form_version' then
    queue[name] = value
  elseif DEFAULTS[name] ~= nil then
    is_changed = is_changed or queue.rules[name] ~= (value ~= '-' and value)
    queue.rules[name] = value ~= '-' and value
  elseif redis.call('HGET', keys.ledger, name) ~= value then
    fields[#fields + 1], fields[#fields + 2] = name, value
  end
end
if not is_changed and not fields[1] and not queue.is_changed() then return { 'ok', 0 } end

if queue.rules.answers ~= '1' then
  if queue.mode == 'open' then queue.mode = 'mixed' end
  fields[#fields + 1], fields[#fields + 2] = 'mixed', '1'
end
if is_new then
  fields[#fields + 1], fields[#fields + 2] = 'tidy', tidy.start()
  -- Tokens continue from the last one of a deleted queue of this name; the counter of grants begins at 0.
  local last_token = redis.call('HGET', keys.deleted, 'token')
  if last_token then
    queue.token = last_token + 0
    redis.call('HINCRBY', keys.ledger, 'n:reserved', last_token)
    redis.call('EXPIRE', keys.deleted, 0) -- deletes it
  end
end
if limits() ~= old_limits then
  redis.call('HDEL', keys.ledger, 'retention', 'full')
  if limits() ~= '- - -' then fields[#fields + 1], fields[#fields + 2] = 'retention', retention.START end
end
redis.call('HDEL', keys.ledger, 'question') -- see lib/alerts.lua: there may be another rule now
redis.call('HSET', keys.ledger, 'rules', rules.format(queue.rules), unpack(fields))
journal.note(is_new and 'created' or 'configured', '', '', by, '')
commit()
return { 'ok', is_new and 1 or 0 }
