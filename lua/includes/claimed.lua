-- The assignment that a token names, with its grant where that is held; and whether the same call ended
-- it before (then with the grant as it ended).
local function claimed(id, claim, ending)
  local member, grant = assignment_of(id, claim)
  if not claims(grant, claim) then return member, nil, nil end
  if is_held(grant) then return member, grant, nil end
  return member, nil, ending_of(grant) == ending and grant or nil
end
