#!lua flags=allow-oom
--[[ Takes an abandon or a fail back, for a few seconds after it: the person holds the item again, under a new token and
for a whole lease. It may be one more than they may hold. What the item had been before is restored, but for what was
assigned to them.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:drafts 11 leaseq:{q}:late
ARGV   1 the time in microseconds, or ''   2 id   3 token   4 person   5 request id
       6 for how many microseconds it can be taken back
REPLY  {'leased', id, grant, record, draft}   {'too-late'}   {'lost', 0, the item}   {'no-item'}   {'no-queue'} ]]
local id, token, person, request, allowed = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
--- @include given_by_undo
--- @include bars
--- @include describe
local refused = queue.open()
if refused then return refused end
local before = given_by_undo(id, person, request)
if before then return before end
local member, grant = leases.latest(id, token, person)
local ending = grant and grant.ending
if ending ~= 'abandoned' and ending ~= 'failed' then return lost(id) end
if queue.now > grant.ended + allowed then return { 'too-late' } end

local item = items.read(member)
local state, _, key = places.find(item)
-- Where it died and other assignments of it with it, those would stay dead.
if state == 'dead' and #items.assignments(id) > 1 then return lost(id) end
if ending == 'abandoned' then
  bars.set(id, person, nil)
else
  local first = member == id and item or items.read(id)
  first.failures = first.failures + 0 > 1 and first.failures - 1 or nil
  if first ~= item then items.write(first) end
end
local again, draft = leases.prepare(item, person)
again.undo = request
items.write(item)
local hands = holdings.read(person)
leases.begin(member, again, hands, 1)
redis.call('ZREM', key, member)
if state == 'dead' then
  places.enter_due(id)
  queue.count('revived')
  journal.note('revived', id, '', person)
end
journal.note('reserved', id, again.token, person)
commit()
return { 'leased', id, grants.format(again), items.shown(member), draft }
