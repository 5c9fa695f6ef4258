--- @include choose
--- @include leases
-- Reserves for a person an item that they do not hold yet.

-- A new lease, as the reply {'leased', …}, or {'more'}; nil if there is nothing for them now. `waiter`: the
-- caller's name in the waiting list, or nil if it does not wait.
local function take_new(person, held_leases, request, skills, waiter)
  if queue.mode == 'paused' or held_leases.is_stopped then return nil end
  local entry, has_more, search = choose(person, skills, held_leases)
  remember(search)
  if not entry then return has_more and { 'more' } or nil end
  local item, shelf = items.read(entry.member), shelves.key(entry.row, entry.shelf)
  if not item then -- left over from an enqueue that the server aborted, and so never acknowledged
    redis.call('ZREM', shelf, entry.member)
    return { 'more' }
  end
  local grant, draft = leases.prepare(item, person)
  if waiter then waiters.leave(waiter) end -- so that the next assignment, if one is added, wakes somebody else
  leases.add_assignment(item)
  held_leases.request = request
  local text = leases.begin(entry.member, grant, held_leases)
  redis.call('ZREM', shelf, entry.member)
  if entry.later_key then redis.call('ZREM', entry.later_key, entry.member) end
  journal.note('reserved', items.id(entry.member), grant.token, person)
  return leases.reply(item, text, draft)
end
