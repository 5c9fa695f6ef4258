-- A person who may not have an item again loses each of its assignments that is theirs alone: it goes back to
-- its row. `but`: the assignment that they had in hand. The caller saves.
-- Needs: assignments, shelves, item, place, where.
local function unassign(id, person, but)
  local whom = string.gsub(person, ' ', '\a')
  for _, member in ipairs(assignments(id)) do
    local item = member ~= but and read_item(member)
    if item and item.o == whom then
      local state, _, set = where(item)
      item.o = nil
      if state == 'inbound' then
        place(item, true, now)
        call('ZREM', set, member)
      else
        write_item(item)
      end
    end
  end
end
