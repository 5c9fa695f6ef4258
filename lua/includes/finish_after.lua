-- The caller does not hold the item now: the lease ran out, this finish was sent before, or it is lost.
-- Needs: what finish.lua has by then. Sets: id, late, replayed, source and grant; or ends the script.
--- @include row_keys
--- @include other_keys
--- @include rules
--- @include save
--- @include assignments
--- @include shelves
--- @include item
--- @include place
--- @include grant
--- @include where
--- @include describe
--- @include past
--- @include late
--- @include lost
--- @include bars
--- @include draft
--- @include taken_before
--- @include following
--- @include may_answer
--- @include late_for_another
local ending = claims(grant, claim) and ending_of(grant)
if not ending and open ~= 'open' then
  id, grant = assignment_of(item, claim)
  ending = claims(grant, claim) and ending_of(grant)
end
if ending == 'finished' then
  local was_late, same = string.match(grant, '\nfinished %d+ (%d)\n(.*)$')
  if same ~= result then return lost(item, keep_late(item, claim, result)) end
  late, replayed = was_late == '1', true
elseif ending == 'expired' and may_answer(item, person, holdings) then
  local _, _, set = where(read_item(id))
  late, source, grant = true, set, string.match(grant, '^[^\n]*')
elseif ending or open == 'open' or not late_for_another() then
  return lost(item, keep_late(item, claim, result))
end
holdings = holdings or '\t' -- clear forgets who was away: see tidy.lua
