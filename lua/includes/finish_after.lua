-- The caller does not hold the item now: the lease ran out, this finish was sent before, or it is lost.
-- Needs: what finish.lua has by then. Sets: late, replayed, source and grant; or ends the script.
--- @include row_keys
--- @include other_keys
--- @include rules
--- @include save
--- @include shelves
--- @include item
--- @include grant
--- @include where
--- @include describe
--- @include late
--- @include lost
local ending = claims(grant, claim) and ending_of(grant)
if ending == 'expired' then
  late = true
  local _, _, set = where(read_item(id))
  source, grant = set, string.match(grant, '^[^\n]*')
elseif ending == 'finished' then
  local was_late, same = string.match(grant, '\nfinished %d+ (%d)\n(.*)$')
  if same ~= result then return lost(id, keep_late(id, grant, claim, result)) end
  late, replayed = was_late == '1', true
else
  return lost(id, keep_late(id, grant, claim, result))
end
