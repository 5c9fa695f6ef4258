-- Who answered an item by another of its assignments, which came their way first, gets none again: what was
-- assigned to them goes back to its row. Needs: what answered.lua has by then. The caller saves.
--- @include shelves
--- @include item
--- @include place
--- @include where
local whom = string.gsub(person, ' ', '\a')
for _, other in ipairs(members) do
  local one = other ~= member and read_item(other)
  if one and one.o == whom then
    local state, _, set = where(one)
    one.o = nil
    if state == 'inbound' then
      place(one, true, now)
      call('ZREM', set, other)
    else
      write_item(one)
    end
  end
end
