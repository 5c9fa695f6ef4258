--- @include leases
-- The earlier reply of an undo that is sent again after a lost reply; nil if there is none.
local function undo_reply(id, person, request)
  for _, member in ipairs(items.assignments(id)) do
    local grant = grants.latest(member)
    if grants.is_held(grant) and grant.person == person and grant.undo == request then
      return { 'leased', id, grants.format(grant), items.full_record(member), drafts.read(id, person) }
    end
  end
end
