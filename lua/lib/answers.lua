--- @include leases
--- @include bars
-- What an answer does to its item.
local answers = {}

-- Whether a person may answer an item: not if they have answered it or hold another assignment of it, nor
-- under a token that was granted before the payload was changed.
function answers.may_give(id, person, held_leases, token)
  local first = token and items.read(id)
  if first and token + 0 <= (first.changed_at or 0) + 0 then return false end
  if queue.mode == 'open' then return true end
  return bars.sign_of(bars.read(id), person) ~= '=' and not holdings.has_item(held_leases, id)
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
    if bars.is_assigned(bars.set(id, person, '='), person) then leases.unassign(id, person, member) end
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
  if not bars.remove_answer(id, person) then return end
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
  local claim, bytes, late_answers = token .. '\t' .. person .. '\t', 0, blocks.read(keys.late, id)
  for _, block in ipairs(late_answers) do
    bytes = bytes + #block + 2
    if string.sub(block, 1, #claim) == claim and string.match(block, '\n(.*)$') == result then return true end
  end
  local answer = claim .. stamp(queue.now) .. '\n' .. result
  if late_answers[1] and bytes + #answer > blocks.LATE_BYTES then return false end
  late_answers[#late_answers + 1] = answer
  blocks.write(keys.late, id, late_answers)
  queue.count('late')
  journal.note('late', id, token, person)
  commit()
  return true
end
