-- The held grant that a caller's token names, or nil; and whether the same call ended it before.
local function claimed(grant, claim, ending)
  if not claims(grant, claim) then return nil, false end
  if is_held(grant) then return grant, false end
  return nil, ending_of(grant) == ending
end
