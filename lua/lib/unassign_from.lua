--- @include leases
--- @include bars
-- Opens an item's assignments that are assigned to a person, or with '' to anybody, to everybody, and notes
-- it. Returns how many people it was taken from.
local function unassign_from(id, assignee, by)
  local count = 0
  for _, member in ipairs(items.assignments(id)) do
    local item = items.read(member)
    local person = item.assignee and string.gsub(item.assignee, '\a', ' ')
    if person and (assignee == '' or person == assignee) and places.find(item) ~= 'finished' then
      leases.unassign(id, person)
      bars.unassign(id, person)
      journal.note('unassigned', id, '', by, cjson.encode(person))
      count = count + 1
    end
  end
  return count
end
