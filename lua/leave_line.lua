#!lua flags=allow-oom
--[[ Ends a wait whose caller has got nothing. The waiter leaves the line: where they were woken, the next in
line is, for what they leave. What their request was granted in the meantime, and was never handed over, goes
back to inbound.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history
ARGV   1 the time in microseconds, or ''   2 waiter   3 person   4 request id
       5 the last token that the waiter knows was not theirs, 0 where they know of none
REPLY  {'ok'} ]]
local waiter, person, request, last_token = ARGV[2], ARGV[3], ARGV[4], ARGV[5] + 0
--- @include deaths
--- @include line
local refusal = queue.open()
if refusal then return refusal[1] == 'no-queue' and { 'ok' } or refusal end
local was_woken = redis.call('HEXISTS', keys.line_until, waiter) == 1 and not redis.call('ZSCORE', keys.line, waiter)
if was_woken and queue.mode ~= 'paused' and (queue.shelves ~= '' or queue.mode == 'mixed') then line.wake(1) end
line.leave(waiter)

-- The request in the person's holdings is that of the latest lease which a reserve gave them, unless that is over by now.
-- What they took back by an undo is no such lease.
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
