-- Who answered an item by another of its assignments, which came their way first, gets none again: what was
-- assigned to them goes back to its row. The caller saves.
local function unassign(members, answered, person)
  local whom = string.gsub(person, ' ', '\a')
  for _, member in ipairs(members) do
    local item = member ~= answered and read_item(member)
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
