#!lua flags=allow-oom
--[[ Replaces an answer by a manager's. The replaced answer becomes a late answer, so that it can be seen and
adopted again.

KEYS   as adopt.lua
ARGV   1 the time in microseconds, or ''   2 id   3 the token of the answer that it replaces   4 by whom   5 the answer
       6 the version of the form that it was checked against, or '-'
REPLY  {'item', the item}   {'form', the item's own form, if it has one}: check again, else against the queue's
       {'no-answer'}: no answer has that token
       {'answered'}: the manager answered or holds another one of its assignments
       {'no-item'}   {'no-queue'} ]]
local id, token, by, answer = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
--- @include answers
--- @include describe
local refusal = queue.open()
if refusal then return refusal end
if not items.read(id) then return { 'no-item' } end
local member, grant = answers.find(id, token)
if not member then
  local corrected_member, text = leases.find(id, token)
  local latest_grant = text and grants.parse(text).ending == 'corrected' and grants.latest(corrected_member)
  local is_repeated = latest_grant and latest_grant.person == by and latest_grant.answer == answer
  return is_repeated and { 'item', describe(id) } or { 'no-answer' }
end
if answers.has_another(id, member, by) then return { 'answered' } end
local first = items.read(id)
if (first.form or queue.form_version) ~= ARGV[6] then
  return { 'form', first.form and redis.call('HGET', keys.forms, first.form) }
end

answers.keep_as_late(id, grant)
grant.ending, grant.ended, grant.detail = 'corrected', queue.now, ''
grants.write(member, grant)
grants.keep_latest(member)
queue.token = queue.token + 1
queue.count('reserved') -- not a lease: leases are counted as tokens less this counter
local new_grant = { token = stamp(queue.token), person = by, granted = queue.now, seconds = queue.lease_seconds,
  attempt = grant.attempt, moved = grant.moved, adopted = '' }
grants.finish(new_grant, queue.now, false, answer)
grants.write(member, new_grant)
redis.call('ZADD', keys.finished, queue.now, member)
answers.apply(member, by, keys.finished)
-- Another one may be the oldest that keep_finished_count keeps: see lib/retention.lua.
if queue.rules.keep_finished_count then redis.call('HINCRBY', keys.ledger, 'full', -1) end
queue.count('corrected')
journal.note('corrected', id, new_grant.token, by)
if first.asked then TELL_ASKER(id) end
commit()
return { 'item', describe(id) }
