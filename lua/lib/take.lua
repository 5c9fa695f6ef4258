--- @include sweep
--- @include choose
-- Gives a person the next item.

-- Their assignments whose leases run still, with their grants. Those that ran out are taken back first.
local function live_leases(person)
  local live = {}
  for _, member in ipairs(holdings.read(person)) do
    local grant = grants.latest(member)
    if grants.expires(grant) > queue.now then
      live[#live + 1] = { member = member, grant = grant }
    else
      sweep.expire(member)
    end
  end
  return live
end

-- The lease that they get again: the one which a lost reply gave them, else the oldest where they hold as many as they
-- may. What came back to them by an undo was given by no reserve.
local function lease_again(live, request, held)
  local found, token = live[1], 0
  if held.request == request then
    for _, lease in ipairs(live) do
      if lease.grant.token + 0 > token and not lease.grant.undo then found, token = lease, lease.grant.token + 0 end
    end
    return found
  end
  return #live >= queue.rules.holds + 0 and found or nil
end

local function leased(member, grant, record, draft)
  return { 'leased', items.id(member), grants.format(grant), items.shown(member, record), draft or nil }
end

-- The lease that they have already, as the reply {'leased', …}; nil where a new one may follow. A few leases of anybody
-- that ran out are taken back first, so that a dead clear job keeps nobody waiting.
local function take_again(person, request)
  if queue.now >= queue.soonest then sweep.run(8) end
  local live = live_leases(person)
  local again = live[1] and lease_again(live, request, holdings.read(person))
  if not again then return nil end
  local draft = again.grant.draft and drafts.read(items.id(again.member), person)
  return leased(again.member, again.grant, nil, draft)
end

-- A new lease, as the reply {'leased', …}, or {'more'}; nil where there is nothing for them now. `waiter`: the name in the
-- line of one who waits, or nil.
local function take_new(person, request, skills, waiter)
  if queue.mode == 'paused' then return nil end
  local held = holdings.read(person)
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
  leases.begin(found.member, grant, held)
  redis.call('ZREM', shelf, found.member)
  if found.later_key then redis.call('ZREM', found.later_key, found.member) end
  journal.note('reserved', items.id(found.member), grant.token, person)
  return leased(found.member, grant, item.record, draft)
end
