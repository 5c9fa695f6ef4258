#!lua flags=allow-oom
--[[ Saves a person's draft. It is accepted while theirs is the latest grant and was not ended on purpose, so
also after the lease ran out: what was typed is not lost.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:history
       9 leaseq:{q}:drafts   10 leaseq:{q}:late
ARGV   1 the time in microseconds, or ''   2 id   3 token   4 person   5 draft
REPLY  {'ok'}   {'lost', 0, the item}   {'no-item'}   {'no-queue'} ]]
local id, token, person, draft = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
--- @include leases
--- @include describe
local refusal = queue.open(true)
if refusal then return refusal end
local member, grant = leases.latest(id, token, person)
if not member or (grant.ending and grant.ending ~= 'expired') then return lost_reply(id) end
drafts.write(id, person, draft)
if not grant.draft then
  grant.draft = ''
  grants.write(member, grant)
  if grant.ending then
    local item = items.read(member)
    item.has_draft = ''
    items.write(item)
  end
end
return { 'ok' }
