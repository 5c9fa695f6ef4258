--- @include answers
--- @include cursors
-- Assigns an assignment to one person; the caller writes its record and puts it where it belongs. They may
-- have the item again, whatever they did with it before.
local function assign_to(item, person)
  local id = items.id(item.member)
  if bars.sign_of(bars.read(id), person) == '-' then -- they passed over its other waiting assignments
    local cursor_list = cursors.read(person)
    for _, member in ipairs(items.assignments(id)) do
      local other = items.read(member)
      local row = shelves.row(other)
      if places.find(other) == 'inbound' and cursors.find(cursor_list, row .. ':' .. (other.shelf or 'normal')) then
        redis.call('ZADD', cursors.later_key(row, person), queue.now, member)
      end
    end
  end
  bars.set(id, person, nil)
  bars.assign(id, person)
  items.reserve_for(item, person)
end
