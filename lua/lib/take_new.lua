--- @include choose
--- @include leases
-- Gives a person an item that they do not have yet.

local function leased(member, grant, record, draft)
  return { 'leased', items.id(member), grant, items.shown(member, record), draft or nil }
end

-- A new lease, as the reply {'leased', …}, or {'more'}; nil where there is nothing for them now. `waiter`: the name in the
-- line of one who waits, or nil.
local function take_new(person, held, request, skills, waiter)
  if queue.mode == 'paused' then return nil end
  local found, more, search = choose(person, skills, held)
  remember(search)
  if not found then return more and { 'more' } or nil end
  local item, shelf = items.read(found.member), shelves.key(found.row, found.shelf)
  if not item then -- what an enqueue left that the server broke off, and so never acknowledged
    redis.call('ZREM', shelf, found.member)
    return { 'more' }
  end
  local grant, draft = leases.prepare(item, person)
  if waiter then line.leave(waiter) end -- the assignment that follows wakes somebody else
  leases.make_following(item)
  held.request = request
  local text = leases.begin(found.member, grant, held)
  redis.call('ZREM', shelf, found.member)
  if found.later_key then redis.call('ZREM', found.later_key, found.member) end
  journal.note('reserved', items.id(found.member), grant.token, person)
  return leased(found.member, text, item.record, draft)
end
