--- @include sweep
--- @include take_new
-- Gives a person an item that they have already.

-- Their assignments whose leases run still, with their grants. Those that ran out are taken back first.
local function live_leases(held)
  local live = {}
  for _, member in ipairs(held) do
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

-- The lease that they have already, as the reply {'leased', …}; nil where a new one may follow. A few leases of anybody
-- that ran out are taken back first, so that a dead clear job keeps nobody waiting.
local function take_again(person, request)
  if queue.now >= queue.soonest then sweep.run(8) end
  local held = holdings.read(person)
  local again = held[1] and lease_again(live_leases(held), request, holdings.read(person))
  if not again then return nil end
  local draft = again.grant.draft and drafts.read(items.id(again.member), person)
  return leased(again.member, grants.format(again.grant), nil, draft)
end
