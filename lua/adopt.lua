#!lua flags=allow-oom
--[[ Makes a late answer an answer of the item: of the assignment that it was given for; where that is held or
answered by somebody else, of another one that waits. Where none does, a lease of it ends, and an answer that
it had is a late answer from then on, so that it can be seen and adopted again.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:late   11 leaseq:{q}:drafts
ARGV   1 the time in microseconds, or ''   2 id   3 the late answer's token   4 by whom, or ''
       5 request id
REPLY  {'item', the item}   {'no-answer', the item}   {'answered', the item}: that person answered
       another one of its assignments, or holds it   {'no-item'}   {'no-queue'} ]]
local id, wanted, by, request = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
--- @include answers
--- @include describe
--- @include given_answers

-- The assignment that the answer takes where the one that it was given for is held or answered by somebody else: one that
-- waits for anybody, else one that is dead and was out before (the next one is there), else one that waits for somebody
-- else alone. Nil: there is none.
local function free_assignment(person)
  local chosen, least
  for _, member in ipairs(items.assignments(id)) do
    local item = items.read(member)
    local state, rank = places.find(item), nil
    if state == 'inbound' or state == 'scheduled' then
      rank = item.only and not items.is_for(item, person) and 3 or 1
    elseif state == 'dead' and item.attempts then
      rank = 2
    end
    if rank and (not least or rank < least) then chosen, least = member, rank end
  end
  return chosen
end

local function counts(grant) return grants.is_held(grant) or grant.ending == 'finished' end

local refused = queue.open()
if refused then return refused end
if not items.read(id) then return { 'no-item' } end

-- Decide which assignment it is to be an answer of.
local late = blocks.read(keys.late, id)
local answer = blocks.find(late, wanted)
answer = answer and table.remove(late, answer)
local person, given = string.match(answer or '', '^%d+\t([^\t]*)\t(%d+)\n')
local from = leases.find(id, wanted, person) or id
local latest = grants.latest(from)
if latest and latest.adopted and latest.request == request then return { 'item', describe(id) } end
if not answer then
  local is_adopted = latest and latest.token == wanted and latest.ending == 'finished'
  return { is_adopted and 'item' or 'no-answer', describe(id) }
end
if given_answers.has_another(id, from, person) then return { 'answered', describe(id) } end
local member = counts(latest) and latest.person ~= person and free_assignment(person) or from
local item, moves = items.read(member), member ~= from
local state, _, key = places.find(item)

-- The grant that it was given under is the latest of the assignment then; others of that are history.
local history = blocks.read(keys.history, from)
local past = blocks.find(history, wanted)
past = past and table.remove(history, past)
if moves then
  if item.attempts then blocks.keep_latest_grant(member) end
  leases.make_following(item)
elseif grants.is_held(latest) then
  leases.close(item, latest, 'released')
  items.write(item)
  queue.count('released')
  journal.note('released', id, latest.token, by)
end
if latest.token == wanted then
  past = grants.format(latest)
elseif not moves then
  history[#history + 1] = grants.format(latest)
end
if latest.ending == 'finished' and not moves then
  late[#late + 1] = latest.token .. '\t' .. latest.person .. '\t' .. stamp(latest.ended) .. '\n' .. latest.answer
end
local grant = past and grants.reopened(grants.parse(past)) -- else its history got too long to keep that far back
  or { token = wanted, person = person, granted = given + 0, seconds = queue.lease_seconds, attempt = 1 }
grant.moved, grant.adopted, grant.request = moves and '' or grant.moved, '', request
grants.finish(grant, given + 0, true, string.match(answer, '\n(.*)$'))

redis.call('ZADD', keys.finished, queue.now, member)
grants.write(member, grant)
answers.given(member, person, key)
if state ~= 'finished' then
  redis.call('ZREM', key, member)
  queue.finished = queue.finished + 1
  journal.note('finished', id, wanted, person)
end
if moves then
  local left = items.read(from)
  left.attempts = math.max(left.attempts or 0, grant.attempt)
  items.write(left)
end
blocks.write(keys.history, from, history)
blocks.write(keys.late, id, late)
journal.note('adopted', id, wanted, by)
commit()
return { 'item', describe(id) }
