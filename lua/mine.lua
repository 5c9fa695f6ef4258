#!lua flags=no-writes
--[[ The leases that a person holds, oldest first.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:items  3 leaseq:{q}:drafts
ARGV   1 the time in microseconds, or ''   2 person
REPLY  {'leases', {id, grant, record, draft or nil, the item's own form or nil}, …}   {'no-queue'} ]]
local person = ARGV[2]
--- @include grants
--- @include holdings
--- @include items
--- @include drafts
local refusal = queue.open(true)
if refusal then return refusal end
local reply = { 'leases' }
for _, member in ipairs(holdings.read(person)) do
  local grant, id = grants.latest(member), items.id(member)
  if grants.expires(grant) > queue.now then
    local draft = grant.draft and drafts.read(id, person) or nil
    local version = items.read(member).form
    local form = version and redis.call('HGET', keys.forms, version)
    reply[#reply + 1] = { id, grants.format(grant), items.full_record(member), draft or form and false, form }
  end
end
return reply
