--- @include leases
-- Failures are counted per item: when its attempts are used up, its waiting assignments die, too. A held one
-- may still be finished, and dies when it comes back.
local deaths = {}

-- Counts a failure of the item. Returns whether its attempts are used up, and the number of failures.
function deaths.count_failure(item)
  local id, first = items.id(item.member), item
  if item.member ~= id then first = items.read(id) end
  first.failures = (first.failures or 0) + 1
  if first ~= item then items.write(first) end
  return first.dies ~= nil or first.failures >= (first.max_attempts or queue.rules.max_attempts) + 0, first.failures
end

-- Whether the item died while this assignment of it was held.
function deaths.has_died(item)
  local id = items.id(item.member)
  return (item.member == id and item or items.read(id)).dies ~= nil
end

-- Returns whether it died: one that its item no longer needs is closed instead. That nobody answered in time is noted
-- once, with the first assignment that dies of it.
local function bury(item, token, person)
  if item.answers and surplus.is_one(item) then
    surplus.close(item)
    return false
  end
  local id = items.id(item.member)
  redis.call('ZADD', keys.dead, queue.now, item.member)
  items.write(item)
  redis.call('ZREM', keys.due, id)
  queue.count('died')
  journal.note('died', id, token, person)
  if queue.mode ~= 'open' and items.read(id).ended == 'expired' and not places.has_dead(id, item.member) then
    queue.count('lapsed')
    journal.note('lapsed', id, token, person)
  end
  if item.asked then TELL_ASKER(item.member) end
  return true
end

-- Moves an assignment to the dead, with the item's waiting ones. The caller removes it from the set that it
-- was in. `token` and `person`: the lease that the item died of. Returns whether this assignment died.
function deaths.die(item, token, person)
  local id, is_held = items.id(item.member), false
  local has_died = bury(item, token, person)
  for _, member in ipairs(items.assignments(id)) do
    local other = member ~= item.member and items.read(member)
    local state, _, key = places.find(other or item)
    if other and (state == 'inbound' or state == 'scheduled') then
      bury(other, '', '')
      redis.call('ZREM', key, member)
    end
    is_held = is_held or other and state == 'reserved'
  end
  if is_held then
    local first = item.member == id and item or items.read(id)
    first.dies = ''
    items.write(first)
  end
  return has_died
end

-- Ends an item that nobody needs any more: what waits or is scheduled dies. What is held dies when it comes back or,
-- with `is_cancelled`, at once. `why`: see the letter c in items.lua. Returns whether there was anything to end, and whether
-- anything died.
function deaths.end_item(id, why, by, is_cancelled)
  local open_members, first, is_held, has_died = {}, items.read(id), false, false
  for _, member in ipairs(items.assignments(id)) do
    local state, _, key = places.find(items.read(member))
    if state ~= 'finished' and state ~= 'dead' then open_members[#open_members + 1] = { member, state, key } end
  end
  if not open_members[1] or first.ended and not is_cancelled then return false end
  first.ended = (string.gsub(why, ' ', '\a'))
  items.write(first)
  for _, open in ipairs(open_members) do
    local member, state, key = unpack(open)
    local item = items.read(member)
    if state ~= 'reserved' then
      has_died = bury(item, '', by) or has_died
    elseif is_cancelled then
      local grant = grants.latest(member)
      leases.close(item, grant, 'released')
      queue.count('released')
      journal.note('released', id, grant.token, by)
      has_died = bury(item, '', by) or has_died
    else
      is_held = true
    end
    if state ~= 'reserved' or is_cancelled then redis.call('ZREM', key, member) end
  end
  if is_held then
    first = items.read(id)
    first.dies = ''
    items.write(first)
  end
  return true, has_died
end

-- Ends a lease without counting a failure. The assignment goes back to inbound, or dies if the item did.
-- `by`: who does it, or ''.
function deaths.release(member, grant, by, is_dead)
  local item = items.read(member)
  leases.close(item, grant, 'released')
  queue.count('released')
  journal.note('released', items.id(member), grant.token, by)
  if is_dead then
    bury(item, '', '')
  else
    places.put(item, true)
  end
  redis.call('ZREM', keys.reserved, member)
end
