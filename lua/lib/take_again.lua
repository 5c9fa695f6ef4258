--- @include sweep
--- @include take_new
-- Returns to a person a lease that they hold already.

-- A person's assignments whose leases have not run out, with their grants. Those that ran out are taken back,
-- as many as one call may.
local function live_leases(held_leases)
  local list = {}
  for _, member in ipairs(held_leases) do
    local grant = grants.latest(member)
    if grants.expires(grant) > queue.now then
      list[#list + 1] = { member = member, grant = grant }
    elseif not journal.is_full() then
      sweep.expire(member)
    end
  end
  return list
end

-- The lease that they get again: the one of a reserve whose reply was lost, else the oldest if they hold as
-- many as they may. A lease that an undo granted is not from a reserve.
local function repeated_lease(list, request, held_leases)
  local choice, token = list[1], 0
  if held_leases.request == request then
    for _, lease in ipairs(list) do
      if lease.grant.token + 0 > token and not lease.grant.undo then choice, token = lease, lease.grant.token + 0 end
    end
    return choice
  end
  return #list >= queue.rules.holds + 0 and choice or nil
end

-- The lease that they hold already, as the reply {'leased', …}; nil if they may get a new one; {'clear'} if there are
-- items that nobody needs any more, which clear ends. First, up to 8
-- leases or due items of anybody are processed as by clear, so that nobody has to wait if the clear job has
-- stopped.
local function take_again(person, request)
  if queue.now >= queue.next_sweep then
    sweep.run(8)
    if queue.mode ~= 'open' and redis.call('ZCOUNT', keys.expiring, '-inf', stamp(queue.now)) + redis.call('ZCOUNT', keys.questions, '-inf', stamp(queue.now)) > 0 then return { 'clear' } end
  end
  local held_leases = holdings.read(person)
  local lease = held_leases[1] and repeated_lease(live_leases(held_leases), request, holdings.read(person))
  if not lease then return nil end
  local draft = lease.grant.draft and drafts.read(items.id(lease.member), person)
  return leases.reply(items.read(lease.member), grants.format(lease.grant), draft)
end
