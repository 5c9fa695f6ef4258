#!lua flags=allow-oom
--[[ Lets a person keep an item for another full lease from now, or take it back if their lease ran out and
nobody else has been granted it since. A renewal never makes a lease shorter.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:drafts 11 leaseq:{q}:late
ARGV   1 the time in microseconds, or ''   2 id   3 token   4 person   5 request id
REPLY  {'leased', …} (see leases.lua)   {'used-up', how many renewals are allowed}
       {'full', how many items they may hold}   {'lost', 0, the item}   {'no-item'}   {'no-queue'} ]]
local id, token, person, request = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
--- @include answers
--- @include describe
local refusal = queue.open()
if refusal then return refusal end
local member, grant = leases.latest(id, token, person)
if not member then return lost_reply(id) end
local held_leases, is_held = holdings.read(person), grants.is_held(grant)
local item = items.read(member)
local state, _, key = places.find(item)
local may_return = grant.ending == 'expired' and state == 'inbound' and answers.may_give(id, person, held_leases, token)
  and (not item.assignee or items.is_for(item, person))
if not is_held and not may_return then return lost_reply(id) end

local draft = (grant.draft or item.has_draft) and drafts.read(id, person)
if is_held and grant.request == request then return leases.reply(item, grants.format(grant), draft) end
local renewals, max_renewals = grant.renewals or 0, tonumber(queue.rules.renewals)
if max_renewals and renewals + 0 >= max_renewals then return { 'used-up', max_renewals } end
if not is_held and leases.count_live(held_leases) >= queue.rules.holds + 0 then
  return { 'full', tonumber(queue.rules.holds) }
end

local expires = math.max(queue.now + queue.lease_seconds * 1000000, grants.expires(grant))
grant = grants.reopen(grant)
grant.expires, grant.renewals, grant.request = stamp(expires), renewals + 1, request
redis.call('ZADD', keys.reserved, expires, member)
grants.write(member, grant)
if not is_held then
  held_leases[#held_leases + 1], held_leases.idle = member, nil
  holdings.write(person, held_leases)
  redis.call('ZREM', key, member)
end
queue.expect(expires)
journal.note('renewed', id, token, person)
commit()
return leases.reply(item, grants.format(grant), draft)
