#!lua
--[[ Writes policy fields, and makes the queue where there is none (all fields must be given then).
Where nothing is new, nothing is written.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''   2 by whom, or ''   3 'create': only where there is no queue
       yet; a policy's version (see leaseq/policy.py): only where it is in force; else ''
       then a field, its value, …: a number is the place among the words of `rules`
       (see includes/rules.lua), lease_seconds and form_version are words of the status, any other
       name is a field of the ledger of its own, with its JSON
REPLY  {'ok', made 0|1}   {'changed'}: another policy is in force, and nothing was written   {'no-queue'} ]]
local call = redis.call
local LEDGER, JOURNAL = KEYS[1], KEYS[2]
local status = call('HGET', LEDGER, 'status')
local made = not status
local create, expected = ARGV[3] == 'create', string.match(ARGV[3], '^%x+$')
if not made and create then return { 'ok', 0 } end
if made and expected then return { 'no-queue' } end
if made then status = '0 0 0 0 9007199254740991 open - -' end
--- @include status
--- @include now
--- @include save
if expected then
  local kept = call('HMGET', LEDGER, 'rules', 'form', 'title', 'instructions', 'durable')
  if redis.sha1hex(lease_seconds .. '\n' .. table.concat(kept, '\n')) ~= expected then return { 'changed' } end
end
local ANSWERS, KEPT, mix, kept = 9, 12, false, nil -- places among the rules
local words, before = {}, lease_seconds .. ' ' .. form_version
for word in string.gmatch(call('HGET', LEDGER, 'rules') or '', '%S+') do words[#words + 1] = word end
local changed = made
for i = 4, #ARGV, 2 do
  local name, value = ARGV[i], ARGV[i + 1]
  local place = tonumber(name)
  if place then
    if place == ANSWERS and value ~= '1' then mix = true end
    if place == KEPT and words[place] ~= value then kept = value end
    changed = changed or words[place] ~= value
    words[place] = value
  elseif name == 'lease_seconds' then
    lease_seconds = value
  elseif name == 'form_version' then
    form_version = value
  elseif call('HGET', LEDGER, name) ~= value then
    changed = true
    call('HSET', LEDGER, name, value)
  end
end
if not changed and before == lease_seconds .. ' ' .. form_version then return { 'ok', 0 } end
if mix then
  if open == 'open' then open = 'mixed' end
  call('HSET', LEDGER, 'mixed', 1)
end
if kept == '-' then
  call('HDEL', LEDGER, 'forget')
elseif kept then
  call('HSET', LEDGER, 'forget', '0 0') -- see retain.lua
end
call('HSET', LEDGER, 'rules', table.concat(words, ' '))
if made then call('HSET', LEDGER, 'tidy', string.format('%.0f', now + 86400000000) .. ' people 0 0') end -- see tidy.lua
save()
call('XADD', JOURNAL, at, made and 'created' or 'configured', '\t\t' .. ARGV[2] .. '\t')
return { 'ok', made and 1 or 0 }
