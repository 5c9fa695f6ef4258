--- @include leases
-- An undo that is sent again, after a lost reply: the reply that it gave; nil where it gave none.
local function given_by_undo(id, person, request)
  for _, member in ipairs(items.assignments(id)) do
    local latest = grants.latest(member)
    if grants.is_held(latest) and latest.person == person and latest.undo == request then
      return { 'leased', id, grants.format(latest), items.shown(member), drafts.read(id, person) }
    end
  end
end
