--- @include leases
-- What a caller holds.
local claims = {}

-- The held assignment that a token names, with its grant; or nil, nil and the grant if the same call ended it
-- before, even if others have been granted the item since.
function claims.find(id, token, person, ending)
  local member, grant = leases.latest(id, token, person)
  if grants.is_held(grant) then return member, grant end
  local _, text = leases.find(id, token, person)
  local ended_grant = text and grants.parse(text)
  return nil, nil, ended_grant and ended_grant.ending == ending and ended_grant or nil
end

-- How many of a person's leases have not run out.
function claims.count_live(held_leases)
  local count = 0
  for _, member in ipairs(held_leases) do
    if grants.expires(grants.latest(member)) > queue.now then count = count + 1 end
  end
  return count
end
