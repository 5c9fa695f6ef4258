-- The assignment that a token names, with its grant where that is held; and whether the same call ended
-- it before, even where others were granted the item since (then with the grant as it ended).
-- Needs: what past.lua needs.
local function claimed(id, claim, ending)
  local member, grant = assignment_of(id, claim)
  if claims(grant, claim) and is_held(grant) then return member, grant, nil end
  local _, over = past_of(id, claim)
  return member, nil, over and ending_of(over) == ending and over or nil
end
