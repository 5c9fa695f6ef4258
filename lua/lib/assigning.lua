--- @include cursors
--- @include journal
-- The assignment of items to one person, who alone may reserve them.
local assigning = {}

-- Assigns an assignment of an item to a person; the caller writes its record and puts it where it belongs. They
-- may have the item again, whatever they did with it before.
function assigning.assign(item, person)
  local id = items.id(item.member)
  if relations.sign_of(relations.read(id), person) == '-' then -- they passed over its other waiting assignments
    local scores = cursors.read(person)
    for _, member in ipairs(items.assignments(id)) do
      local other = items.read(member)
      if places.find(other) == 'inbound' and scores[shelves.path_of(other)] then
        redis.call('ZADD', cursors.later_key(shelves.row(other), person), queue.now, member)
      end
    end
  end
  relations.set(id, person, nil)
  relations.assign(id, person)
  items.reserve_for(item, person)
end

-- Makes each assignment of an item that is assigned to a person open to everybody, since they may not have
-- the item again: it goes back to its row. `exempt_member`: the one that they held. Returns whether there was
-- any.
function assigning.open(id, person, exempt_member)
  local was_assigned = false
  for _, member in ipairs(items.assignments(id)) do
    local item = member ~= exempt_member and items.read(member)
    if item and items.is_for(item, person) then
      local state, _, key = places.find(item)
      item.assignee, was_assigned = nil, true
      if state == 'inbound' then
        places.put(item, true)
        redis.call('ZREM', key, member)
      else
        items.write(item)
      end
    end
  end
  return was_assigned
end

-- Takes back that an item is assigned to a person, or with '' to anybody, and notes it. Returns how many people
-- it was taken from.
function assigning.unassign(id, assignee, by)
  local count = 0
  for _, member in ipairs(items.assignments(id)) do
    local item = items.read(member)
    local person = items.assignee(item)
    if person and (assignee == '' or person == assignee) and places.find(item) ~= 'finished' then
      assigning.open(id, person)
      relations.unassign(id, person)
      journal.note('unassigned', id, '', by, cjson.encode(person))
      count = count + 1
    end
  end
  return count
end
