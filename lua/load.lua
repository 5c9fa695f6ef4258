#!lua
--[[ Begins to restore a queue from a backup. Until load_items.lua has added the last of its items, its status
is in the field `loading`, so no other call finds it. A restore that was begun before is continued.

KEYS   1 leaseq:{q}:ledger
ARGV   1 the time in microseconds, or ''   2 to 8 from the backup: the server's time then, clock, token, how
       many were reserved and finished, whether it has more than a plain row 0|1, whether it is paused 0|1
       then a field, its value, …: lease_seconds and form_version are words of the status, the fields of
       lib/rules.lua are words of the rules, `stopped` and a person what stopped them, any other is a field of
       the ledger
REPLY  {'ok'}   {'exists'}: there is a queue, and nothing was written
       {'deleting'}: an earlier queue is still being deleted, see delete_keys.lua, and nothing was written ]]
local at, clock, token, reserved_count, finished_count, is_mixed, is_paused =
  ARGV[2], ARGV[3], ARGV[4] + 0, ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local APART = 3600000000 -- microseconds by which the clocks of two servers may differ
--- @include retention
--- @include tidy
if redis.call('HEXISTS', keys.ledger, 'status') == 1 then return { 'exists' } end
if redis.call('HEXISTS', keys.ledger, 'deleted') == 1 then return { 'deleting' } end
if redis.call('HEXISTS', keys.ledger, 'loading') == 1 then return { 'ok' } end
queue.open(true, NEW_STATUS) -- without a status there are no rules, so nothing is refused
queue.now, queue.clock, queue.finished = math.max(queue.now, clock + 0), clock + 0, finished_count + 0
queue.mode = is_paused == '1' and 'paused' or is_mixed == '1' and 'mixed' or 'open'

-- The other server may have granted tokens since the backup, but fewer than one per microsecond.
token = token + math.max(queue.now - at, 0) + APART
-- The tokens of a deleted queue of this name are not granted again, either.
queue.token = math.max(token, redis.call('HGET', keys.deleted, 'token') or 0)
redis.call('EXPIRE', keys.deleted, 0) -- deletes it, without the right to DEL

local fields = {}
for i = 9, #ARGV, 2 do
  local name, value = ARGV[i], ARGV[i + 1]
  if name == 'lease_seconds' or name == 'form_version' then
    queue[name] = value
  elseif DEFAULTS[name] ~= nil then
    queue.rules[name] = value ~= '-' and value
  elseif string.find(name, '^stopped ') then
    local person = string.sub(name, #'stopped ' + 1)
    redis.call('HSET', keys.stopped, person, value)
    fields[#fields + 1], fields[#fields + 2] = 'p:' .. person, '\t\a\t'
  else
    fields[#fields + 1], fields[#fields + 2] = name, value
  end
end
local policy = queue.rules
if policy.keep_finished_seconds or policy.keep_finished_count or policy.keep_dead_seconds then
  fields[#fields + 1], fields[#fields + 2] = 'retention', retention.START
end
if is_mixed == '1' then
  fields[#fields + 1], fields[#fields + 2] = 'mixed', '1'
end
fields[#fields + 1], fields[#fields + 2] = 'tidy', tidy.start()
fields[#fields + 1], fields[#fields + 2] = 'n:reserved', stamp(queue.token - reserved_count)
fields[#fields + 1], fields[#fields + 2] = 'rules', rules.format(queue.rules)
redis.call('HSET', keys.ledger, 'loading', status.format(queue), unpack(fields))
return { 'ok' }
