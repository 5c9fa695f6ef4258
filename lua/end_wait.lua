#!lua flags=allow-oom
--[[ Ends the wait of a caller that got nothing. The waiter leaves the waiting list; if it had been woken, the
next one is woken for the item that it leaves. An item that its request was granted in the meantime, and that
never reached the caller, goes back to inbound.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history
ARGV   1 the time in microseconds, or ''   2 waiter   3 person   4 request id
       5 the latest token known not to be from this request, 0 if none is known
REPLY  {'ok'} ]]
local waiter, person, request, last_token = ARGV[2], ARGV[3], ARGV[4], ARGV[5] + 0
--- @include deaths
--- @include waiters
local refusal = queue.open()
if refusal then return refusal[1] == 'no-queue' and { 'ok' } or refusal end
if waiters.is_woken(waiter) and waiters.may_be_served() then waiters.wake(1) end
waiters.leave(waiter)

-- The request in the person's holdings belongs to the latest lease that a reserve granted them, unless that
-- lease has ended since. A lease that an undo granted is not from a reserve.
local held_leases, member, grant = holdings.read(person), nil, nil
for _, held_member in ipairs(held_leases.request == request and held_leases or {}) do
  local latest_grant = grants.latest(held_member)
  if latest_grant.token + 0 > last_token and not latest_grant.undo then
    member, grant, last_token = held_member, latest_grant, latest_grant.token + 0
  end
end
if grant then
  deaths.release(member, grant, person, deaths.has_died(items.read(member)))
  commit()
end
return { 'ok' }
