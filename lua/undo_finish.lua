#!lua flags=allow-oom
--[[ Takes a finish back, for a few seconds after it: the person holds the item again, under a new token and
for a full lease, with their answer as its draft, even if they then hold more items than allowed. An answer
that a manager adopted can't be taken back, nor the answer to a question, once the program that asked was told.

KEYS   as renew.lua
ARGV   1 the time in microseconds, or ''   2 id   3 token   4 person   5 request id
       6 for how many microseconds a finish can be undone
REPLY  {'leased', …} (see leases.lua)   {'too-late'}   {'told'}   {'adopted', the item}
       {'lost', 0, the item}   {'no-item'}   {'no-queue'} ]]
local id, token, person, request, time_limit = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
--- @include answers
--- @include describe

-- Whether somebody asked for the item's answer, and it has all of its answers.
local function is_told()
  if not items.read(id).asked then return false end
  for _, member in ipairs(items.assignments(id)) do
    if not redis.call('ZSCORE', keys.finished, member) then return false end
  end
  return true
end

local refusal = queue.open()
if refusal then return refusal end
local earlier_reply = leases.undo_reply(id, person, request)
if earlier_reply then return earlier_reply end
local member, grant = leases.latest(id, token, person)
if not grant or grant.ending ~= 'finished' then return lost_reply(id) end
if grant.adopted then return { 'adopted', describe(id) } end
if queue.now > grant.ended + time_limit then return { 'too-late' } end
if is_told() then return { 'told' } end

-- The answer becomes the person's draft; the finished grant goes into the history.
local item = items.read(member)
drafts.write(id, person, grant.answer)
grant.ending, grant.ended, grant.detail = 'undone', queue.now, ''
grants.write(member, grant)
item.attempts, item.has_draft = grant.moved and (item.attempts or 0) or grant.attempt, ''
local new_grant, draft = leases.prepare(item, person)
if not grant.moved then new_grant.attempt = grant.attempt end -- the same attempt goes on
item.has_draft = nil
items.write(item)
places.enter_due(id)
places.hold_again(id)
answers.forget(id, person, member)
new_grant.undo = request
local held_leases = holdings.read(person)
leases.begin(member, new_grant, held_leases, 1)
redis.call('ZREM', keys.finished, member)
queue.count('undone')
journal.note('undone', id, token, person)
journal.note('reserved', id, new_grant.token, person)
commit()
return leases.reply(item, grants.format(new_grant), draft)
