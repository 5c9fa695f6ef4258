--- @include leases
--- @include assigning
--- @include late_answers
-- The answers of an item: those that count and those that came late, and what an answer does to its item.
local answers = {}

-- Whether a person may answer an item: not if they have answered it or hold another assignment of it, nor
-- under a token that was granted before the payload was changed.
function answers.may_give(id, person, held_leases, token)
  local first = token and items.read(id)
  if first and token + 0 <= (first.changed_at or 0) + 0 then return false end
  if queue.mode == 'open' then return true end
  return relations.sign_of(relations.read(id), person) ~= '=' and not holdings.has_item(held_leases, id)
end

-- The assignment whose answer was given under a token, with its grant; nil if no answer of the item has that
-- token.
function answers.find(id, token)
  for _, member in ipairs(items.assignments(id)) do
    local grant = grants.latest(member)
    if grant and grant.token == token and grant.ending == 'finished' then return member, grant end
  end
end

-- Whether a person holds or answered an assignment of the item other than this one.
function answers.has_another(id, member, person)
  for _, other in ipairs(items.assignments(id)) do
    local grant = other ~= member and grants.latest(other)
    if grant and grant.person == person and (grants.is_held(grant) or grant.ending == 'finished') then return true end
  end
  return false
end

-- Records that an assignment was answered; it is still in the set `source`. If the item has several
-- assignments, the person gets none of them again, their draft is deleted, and others that were assigned to
-- them become open to everybody. The other people's drafts and the due date are removed when all existing
-- assignments are answered. None is missing then, whatever the policy's `answers` is by now: each is created
-- when the one before it is handed out.
function answers.apply(member, person, source)
  local id, is_incomplete = items.id(member), false
  local members = items.assignments(id)
  if #members > 1 then
    if relations.is_assigned(relations.set(id, person, '='), person) then assigning.open(id, person, member) end
    drafts.drop(id, person)
    for _, other in ipairs(members) do
      is_incomplete = is_incomplete or other ~= member and not redis.call('ZSCORE', keys.finished, other)
    end
  end
  if not is_incomplete then
    drafts.drop_all(id)
    redis.call('ZREM', keys.due, id)
  elseif source == keys.dead then
    places.enter_due(id, member)
  end
end

-- Lets a person have the item again, since their answer no longer counts. They may have passed over its other
-- waiting assignments, so these are put on their shelves anew. `freed_member`: the one that the answer was for.
function answers.forget(id, person, freed_member)
  if not relations.remove_answer(id, person) then return end
  for _, member in ipairs(items.assignments(id)) do
    local item = items.read(member)
    local state, _, key = places.find(item)
    if member ~= freed_member and state == 'inbound' then places.put_anew(item, key) end
  end
end

-- Keeps an answer that came too late if its token was granted to that person. Returns whether it is kept. An
-- answer that is sent twice is kept once.
function answers.keep_late(id, token, person, result)
  if not leases.find(id, token, person) then return false end
  local list = late_answers.read(id)
  for _, answer in ipairs(list) do
    if answer.token == token and answer.person == person and answer.result == result then return true end
  end
  list[#list + 1] = { token = token, person = person, arrived = queue.now, result = result }
  if #list > 1 and #late_answers.format(list) > late_answers.MAX_BYTES then return false end
  late_answers.write(id, list)
  queue.count('late')
  journal.note('late', id, token, person)
  commit()
  return true
end

-- An answer that no longer counts, in the form of a late one, so that it can be seen and adopted.
function answers.as_late(grant)
  return { token = grant.token, person = grant.person, arrived = grant.ended, result = grant.answer }
end

-- Keeps such an answer. The limit of late answers does not apply.
function answers.keep_as_late(id, grant)
  local list = late_answers.read(id)
  list[#list + 1] = answers.as_late(grant)
  late_answers.write(id, list)
end
