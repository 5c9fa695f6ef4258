-- Several answers: an answer to a lease that ran out, of an assignment that somebody else was granted
-- since, takes an assignment of the item that still waits, and not for somebody else alone. Sets: id, late,
-- source, grant.
local function late_for_another()
  local from, block, history = past_of(item, claim)
  if not history or ending_of(block) ~= 'expired' or not may_answer(item, person, holdings) then return false end
  local members, whom = assignments(item), string.gsub(person, ' ', '\a')
  for _, member in ipairs(#members > 1 and members or {}) do
    local waiting = read_item(member)
    local state, _, set = where(waiting)
    if state == 'inbound' and (not waiting.o or waiting.o == whom) then
      taken_before(waiting, item, person)
      following(waiting)
      now = now + 1 -- no entry after this one may have its score
      at = string.format('%.0f', now)
      keep_blocks(HISTORY, from, without_block(call('HGET', HISTORY, from), block))
      id, late, source, grant = member, true, set, with_marks(block, { m = '' })
      return true
    end
  end
  return false
end
