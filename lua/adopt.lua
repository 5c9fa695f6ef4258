#!lua flags=allow-oom
--[[ Makes a late answer an answer of the item. It fills the assignment that it was given for or, if somebody
else holds or has answered that one, another one that waits. If none waits, the lease of the original
assignment ends; an answer that it had becomes a late answer, so that it can be seen and adopted again.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:late   11 leaseq:{q}:drafts
ARGV   1 the time in microseconds, or ''   2 id   3 the late answer's token   4 by whom, or ''
       5 request id
REPLY  {'item', the item}   {'no-answer'}   {'answered'}: that person answered or holds another one of its
       assignments   {'no-item'}   {'no-queue'} ]]
local id, token, by, request = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
--- @include answers
--- @include describe

-- The assignment that the answer fills if somebody else holds or has answered the one that it was given for:
-- a waiting one that is not assigned to somebody else; else a dead one that was handed out before (so the
-- next one exists); else a waiting one that is assigned to somebody else. Nil if there is none.
local function free_assignment(person)
  local best_member, best_rank
  for _, member in ipairs(items.assignments(id)) do
    local item = items.read(member)
    local state, rank = places.find(item), nil
    if state == 'inbound' or state == 'scheduled' then
      rank = item.assignee and not items.is_for(item, person) and 3 or 1
    elseif state == 'dead' and item.attempts then
      rank = 2
    end
    if rank and (not best_rank or rank < best_rank) then best_member, best_rank = member, rank end
  end
  return best_member
end

local function is_taken(grant) return grants.is_held(grant) or grant.ending == 'finished' end

local refusal = queue.open()
if refusal then return refusal end
if not items.read(id) then return { 'no-item' } end

-- Decide which assignment it fills.
local late_list = late_answers.read(id)
local answer = late_answers.take(late_list, token)
local person = answer and answer.person
local source_member = leases.find(id, token, person) or id
local latest_grant = grants.latest(source_member)
if latest_grant and latest_grant.adopted and latest_grant.request == request then return { 'item', describe(id) } end
if not answer then
  local is_adopted = latest_grant and latest_grant.token == token and latest_grant.ending == 'finished'
  return is_adopted and { 'item', describe(id) } or { 'no-answer' }
end
if answers.has_another(id, source_member, person) then return { 'answered' } end
local member = is_taken(latest_grant) and latest_grant.person ~= person and free_assignment(person) or source_member
local item, is_moved = items.read(member), member ~= source_member
local is_answered = not is_moved and latest_grant.ending == 'finished'
local state, _, key = places.find(item)

-- The grant of the answer becomes the latest one of the assignment; the assignment's other grants are its
-- history.
local history = grants.read_history(source_member)
local past_place = grants.find(history, token)
local past_text = past_place and table.remove(history, past_place)
if is_moved then
  if item.attempts then grants.keep_latest(member) end
  leases.add_assignment(item)
elseif grants.is_held(latest_grant) then
  leases.close(item, latest_grant, 'released')
  items.write(item)
  queue.count('released')
  journal.note('released', id, latest_grant.token, by)
end
if latest_grant.token == token then
  past_text = grants.format(latest_grant)
elseif not is_moved then
  history[#history + 1] = grants.format(latest_grant)
end
if is_answered then
  late_list[#late_list + 1] = answers.as_late(latest_grant)
end
local grant = past_text and grants.reopen(grants.parse(past_text)) -- else it is no longer in the history
  or { token = token, person = person, granted = answer.arrived, seconds = queue.lease_seconds, attempt = 1 }
grant.moved, grant.adopted, grant.request = is_moved and '' or grant.moved, '', request
grants.finish(grant, answer.arrived, true, answer.result)

redis.call('ZADD', keys.finished, queue.now, member)
grants.write(member, grant)
answers.apply(member, person, key)
if state ~= 'finished' then redis.call('ZREM', key, member) end
if not is_answered then -- also if it was closed
  queue.finished = queue.finished + 1
  journal.note('finished', id, token, person)
end
-- Another one may be the oldest that keep_finished_count keeps: see lib/retention.lua.
if is_answered and queue.rules.keep_finished_count then redis.call('HINCRBY', keys.ledger, 'full', -1) end
if is_moved then
  local source_item = items.read(source_member)
  source_item.attempts = math.max(source_item.attempts or 0, grant.attempt)
  items.write(source_item)
end
if item.answers then places.close_surplus(id) end
grants.write_history(source_member, history)
late_answers.write(id, late_list)
journal.note('adopted', id, token, by)
if item.asked then places.answer_question(items.read(id)) end
commit()
return { 'item', describe(id) }
