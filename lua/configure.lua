#!lua
--[[ Writes policy fields, and makes the queue where there is none (all fields must be given then).
Where nothing is new, nothing is written.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''   2 by whom, or ''   3 'create': only where there is no queue
       yet; a policy's version (see leaseq/policy.py): only where it is in force; else ''
       then a field, its value, …: lease_seconds and form_version are words of the status, those of
       lib/rules.lua words of the rules, any other name is a field of the ledger of its own, with its JSON
REPLY  {'ok', made 0|1}   {'changed'}: another policy is in force, and nothing was written   {'no-queue'}
       {'deleting'}: the queue that was there is being deleted, see delete_keys.lua, and nothing was written ]]
local by, only = ARGV[2], ARGV[3]
--- @include journal
--- @include policy_version
local NEW = 'v2 0 0 0 0 9007199254740991 open - -'
local refused = queue.open(false, NEW)
if refused then return refused end
local made, expected = redis.call('HEXISTS', keys.ledger, 'status') == 0, string.match(only, '^%x+$')
if not made and only == 'create' then return { 'ok', 0 } end
if made and expected then return { 'no-queue' } end
if expected and policy_version() ~= expected then return { 'changed' } end
if made and redis.call('HEXISTS', keys.ledger, 'deleted') == 1 then return { 'deleting' } end
if made and redis.call('HEXISTS', keys.ledger, 'loading') == 1 then
  return redis.error_reply('-RESTORING this queue is being restored from a backup, and can be used once that is done. Where it '
    .. 'was interrupted, run the restore again, or delete the queue')
end

local function retention()
  local kept = queue.rules
  return (kept.keep_finished_seconds or '-') .. ' ' .. (kept.keep_finished_count or '-') .. ' ' .. (kept.keep_dead_seconds or '-')
end
local kept_before, fields = retention(), {}
local changed = made
for i = 4, #ARGV, 2 do
  local name, value = ARGV[i], ARGV[i + 1]
  if name == 'lease_seconds' or name == 'form_version' then
    queue[name] = value
  elseif DEFAULTS[name] ~= nil then
    changed = changed or queue.rules[name] ~= (value ~= '-' and value)
    queue.rules[name] = value ~= '-' and value
  elseif redis.call('HGET', keys.ledger, name) ~= value then
    fields[#fields + 1], fields[#fields + 2] = name, value
  end
end
if not changed and not fields[1] and not queue.is_changed() then return { 'ok', 0 } end

if queue.rules.answers ~= '1' then
  if queue.mode == 'open' then queue.mode = 'mixed' end
  fields[#fields + 1], fields[#fields + 2] = 'mixed', '1'
end
if made then
  fields[#fields + 1], fields[#fields + 2] = 'tidy', stamp(queue.now + 86400000000) .. ' people 0 0'
  -- Tokens go on where those of a deleted queue of this name ended; the counter of grants begins at 0.
  local last = redis.call('HGET', keys.deleted, 'token')
  if last then
    queue.token = last + 0
    redis.call('HINCRBY', keys.ledger, 'n:reserved', last)
    redis.call('EXPIRE', keys.deleted, 0) -- deletes it
  end
end
if retention() == '- - -' then
  redis.call('HDEL', keys.ledger, 'forget')
elseif retention() ~= kept_before then
  fields[#fields + 1], fields[#fields + 2] = 'forget', '0 0' -- see lib/retain.lua
end
redis.call('HSET', keys.ledger, 'rules', rules.format(queue.rules), unpack(fields))
journal.note(made and 'created' or 'configured', '', '', by, '')
commit()
return { 'ok', made and 1 or 0 }
