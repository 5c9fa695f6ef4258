#!lua flags=allow-oom
--[[ Ends the leases of an item, of all holders or of one person; it returns to inbound. An item that nobody
holds is left as it is.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:late   11 leaseq:{q}:drafts
ARGV   1 the time in microseconds, or ''   2 id   3 by whom, or ''   4 from whom, or '' for everybody
REPLY  {'item', the item}   {'no-item'}   {'no-queue'} ]]
local id, by, holder = ARGV[2], ARGV[3], ARGV[4]
--- @include deaths
--- @include describe
local refusal = queue.open()
if refusal then return refusal end
local first = items.read(id)
if not first then return { 'no-item' } end
local is_dead = deaths.has_died(first)
for _, member in ipairs(items.assignments(id)) do
  local grant = grants.latest(member)
  if grants.is_held(grant) and (holder == '' or grant.person == holder) then deaths.release(member, grant, by, is_dead) end
end
commit()
return { 'item', describe(id) }
