-- The assignment of an item that an adopted answer takes where the one that it was given for is held or answered by
-- somebody else: one that waits for anybody, else one that is dead and was out before (the next one is there),
-- else one that waits for somebody else alone. nil: there is none.
local function free_assignment(id, person)
  local chosen, least
  local whom = string.gsub(person, ' ', '\a')
  for _, member in ipairs(assignments(id)) do
    local item = read_item(member)
    local state, rank = where(item), nil
    if state == 'inbound' or state == 'scheduled' then rank = item.o and item.o ~= whom and 3 or 1 end
    if state == 'dead' and item.a then rank = 2 end
    if rank and (not least or rank < least) then chosen, least = member, rank end
  end
  return chosen
end
