#!lua flags=allow-oom
--[[ Takes an abandon or a fail back, for a few seconds after it: the person holds the item again, under a new
token and for a full lease, even if they then hold more items than allowed. The item's earlier state is
restored, except for what was assigned to them.

KEYS   as renew.lua
ARGV   1 the time in microseconds, or ''   2 id   3 token   4 person   5 request id
       6 for how many microseconds it can be taken back
REPLY  {'leased', …} (see leases.lua)   {'too-late'}   {'lost', 0, the item}   {'no-item'}   {'no-queue'} ]]
local id, token, person, request, time_limit = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
--- @include answers
--- @include describe
local refusal = queue.open()
if refusal then return refusal end
local earlier_reply = leases.undo_reply(id, person, request)
if earlier_reply then return earlier_reply end
local member, grant = leases.latest(id, token, person)
local ending = grant and grant.ending
if ending ~= 'abandoned' and ending ~= 'failed' then return lost_reply(id) end
if queue.now > grant.ended + time_limit then return { 'too-late' } end

local item = items.read(member)
local state, _, key = places.find(item)
-- If it died, its other assignments died with it, and would stay dead; or nobody needs it any more.
if state == 'dead' and (#items.assignments(id) > 1 or items.read(id).ended) then return lost_reply(id) end
if state == 'finished' then return lost_reply(id) end -- it was closed: the item needs no more answers
local held_leases = holdings.read(person)
if not answers.may_give(id, person, held_leases) then return lost_reply(id) end -- by another assignment
if ending == 'abandoned' then
  local sign = relations.sign_of(relations.read(id), person) -- none if it was revived since
  relations.set(id, person, sign and grant.relation)
else
  local first = member == id and item or items.read(id)
  -- It has none if it was revived since.
  first.failures = (first.failures or 0) + 0 > 1 and first.failures - 1
  if first ~= item then items.write(first) end
end
local reason = ending == 'failed' and string.match(grant.detail, '^%d+ (.*)$') or grant.detail
grant.ending, grant.ended, grant.detail, grant.relation = 'undone', queue.now, ending .. ' ' .. reason, nil
grants.write(member, grant)
local new_grant, draft = leases.prepare(item, person)
new_grant.attempt, new_grant.undo = grant.attempt, request -- the same attempt goes on
items.write(item)
places.hold_again(id)
leases.begin(member, new_grant, held_leases, 1)
redis.call('ZREM', key, member)
if state == 'dead' then
  places.enter_due(id)
  queue.count('revived')
  journal.note('revived', id, '', person)
end
journal.note('reserved', id, new_grant.token, person)
commit()
return leases.reply(item, grants.format(new_grant), draft)
