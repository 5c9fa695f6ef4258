#!lua flags=allow-oom
--[[ Gives an item back: it returns to the front of its priority band. The person gets it again only when
nothing else waits for them, or never; if never, its other assignments that were assigned to them become open
to everybody. An item that max_abandons people gave back dies. With a request id, also reserves the next item.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:late
ARGV   1 the time in microseconds, or ''   2 id   3 token   4 person   5 reason as JSON
       6 when they may have it again: later or never
       7 the request id of the reserve that follows; left out without one   8 the skills as for reserve
REPLY  {'ok', the next lease as `finish` returns it}   {'lost', 0, the item}   {'no-item'}   {'no-queue'} ]]
local id, token, person, reason, delay, request = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
--- @include deaths
--- @include describe
--- @include assigning
-- The person gets it again when nothing else waits for them. Their cursors list its shelf from then on, so
-- that clear finds their sorted set `later` once they are gone (see tidy).
local function postpone(item)
  local path, scores = shelves.path_of(item), cursors.read(person)
  redis.call('ZADD', cursors.later_key(shelves.row(item), person), queue.now, item.member)
  if not scores[path] then
    scores[path] = '0'
    cursors.write(person, scores)
  end
end

local refusal = queue.open()
if refusal then return refusal end
local member, grant, ended_grant = leases.find_held(id, token, person, 'abandoned')
if not grant and not ended_grant then return lost_reply(id) end

if grant then
  local item = items.read(member)
  local signs
  signs, grant.relation = relations.set(id, person, delay == 'later' and '~' or '-')
  leases.close(item, grant, 'abandoned', reason)
  item.assignee = nil
  queue.count('abandoned')
  journal.note('abandoned', id, token, person, reason)
  local limit = tonumber(queue.rules.max_abandons) or math.huge
  if relations.abandons(signs) >= limit or deaths.has_died(item) then
    deaths.die(item, token, person)
  else
    places.put(item, true)
    if delay == 'later' then postpone(item) end
  end
  if delay == 'never' and relations.is_assigned(signs, person) then assigning.open(id, person, member) end
  redis.call('ZREM', keys.reserved, member)
end
if not request then
  commit()
  return { 'ok' }
end

-- The next item.
--- @include take_again
local next_lease = take_again(person, request) or take_new(person, holdings.read(person), request, ARGV[8])
commit()
return { 'ok', next_lease or { 'nothing' } }
