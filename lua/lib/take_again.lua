--- @include sweep
--- @include take_new
-- Gives a person an item that they have already.

-- Their assignments whose leases run still, with their grants. Those that ran out are taken back first.
local function live_leases(held_leases)
  local list = {}
  for _, member in ipairs(held_leases) do
    local grant = grants.latest(member)
    if grants.expires(grant) > queue.now then
      list[#list + 1] = { member = member, grant = grant }
    else
      sweep.expire(member)
    end
  end
  return list
end

-- The lease that they get again: the one which a lost reply gave them, else the oldest where they hold as many as they
-- may. What came back to them by an undo was given by no reserve.
local function repeated_lease(list, request, held_leases)
  local choice, token = list[1], 0
  if held_leases.request == request then
    for _, lease in ipairs(list) do
      -- equivalent mutant: compare: each token is another one, and above 0
      if lease.grant.token + 0 > token and not lease.grant.undo then choice, token = lease, lease.grant.token + 0 end
    end
    return choice
  end
  return #list >= queue.rules.holds + 0 and choice or nil
end

-- The lease that they have already, as the reply {'leased', …}; nil where a new one may follow. A few leases of anybody
-- that ran out are taken back first, so that a dead clear job keeps nobody waiting.
local function take_again(person, request)
  if queue.now >= queue.next_sweep then sweep.run(8) end
  local held_leases = holdings.read(person)
  local lease = held_leases[1] and repeated_lease(live_leases(held_leases), request, holdings.read(person))
  if not lease then return nil end
  local draft = lease.grant.draft and drafts.read(items.id(lease.member), person)
  return lease_reply(lease.member, grants.format(lease.grant), nil, draft)
end
