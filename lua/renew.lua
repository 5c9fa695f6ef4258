#!lua flags=allow-oom
--[[ Lets a person keep an item for another full lease from now, or take it back where their lease ran
out and nobody else was granted it since. A lease never gets shorter by it.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:drafts 11 leaseq:{q}:late
ARGV   1 the time in microseconds, or ''   2 id   3 token   4 person   5 request id
REPLY  {'leased', id, grant, record, draft or nil}   {'used-up', how many renewals are allowed}
       {'full', how many they may hold}   {'lost', 0, the item}   {'no-item'}   {'no-queue'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, JOURNAL, HISTORY, DRAFTS, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11]
local id, person, request = ARGV[2], ARGV[4], ARGV[5]
local status, holdings = unpack(call('HMGET', LEDGER, 'status', 'p:' .. person))
if not status then return { 'no-queue' } end
--- @include ledger
--- @include now
--- @include save
--- @include assignments
--- @include shelves
--- @include item
--- @include grant
--- @include alive
--- @include where
--- @include describe
--- @include lost
--- @include soonest
--- @include draft
--- @include bars
--- @include may_answer
local member, grant = assignment_of(id, ARGV[3] .. '\t' .. person .. '\t')
if not claims(grant, ARGV[3] .. '\t' .. person .. '\t') then return lost(id) end
local held = is_held(grant)
local one = read_item(member)
local state, _, set = where(one)
local anothers = one and one.o and row_of(one) ~= '@' .. person
local may = ending_of(grant) == 'expired' and state == 'inbound' and not anothers and may_answer(id, person, holdings)
if not held and not may then return lost(id) end

local draft = (has_draft(grant) or one.w ~= nil) and draft_for(id, person)
local record = payload_of(member, call('HGET', ITEMS, member))
if held and mark_of(grant, 'q') == request then return { 'leased', id, grant, record, draft } end
local done = (mark_of(grant, 'n') or 0) + 0
local allowed = tonumber(renewals)
if allowed and done >= allowed then return { 'used-up', allowed } end
if not held then
  if alive_of(holdings) >= holds + 0 then return { 'full', tonumber(holds) } end
  holdings = (holdings and string.match(holdings, '^[^\t]*\t.*') or '\t') .. member .. '\t'
end

local expires = math.max(now + lease_seconds * 1000000, expiry_of(grant))
local line = with_marks(grant, { x = string.format('%.0f', expires), n = done + 1, q = request })
call('ZADD', RESERVED, expires, member)
expect(expires)
save()
call('HSET', LEDGER, 'g:' .. member, line, 'p:' .. person, holdings)
if not held then call('ZREM', set, member) end
call('XADD', JOURNAL, at, 'renewed', id .. '\t' .. ARGV[3] .. '\t' .. person)
return { 'leased', id, line, record, draft }
