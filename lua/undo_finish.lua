#!lua flags=allow-oom
--[[ Takes a finish back, for a few seconds after it: the person holds the item again, under a new token and
for a whole lease, with their answer as its draft. It may be one more than they may hold. An answer that a manager
adopted is not theirs to take back.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:drafts 11 leaseq:{q}:late
ARGV   1 the time in microseconds, or ''   2 id   3 token   4 person   5 request id
       6 for how many microseconds a finish can be undone
REPLY  {'leased', id, grant, record, draft}   {'too-late'}   {'adopted', the item}   {'lost', 0, the item}
       {'no-item'}   {'no-queue'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, JOURNAL, HISTORY, DRAFTS, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11]
local id, person, request = ARGV[2], ARGV[4], ARGV[5]
local claim = ARGV[3] .. '\t' .. person .. '\t'
local status, holdings = unpack(call('HMGET', LEDGER, 'status', 'p:' .. person))
if not status then return { 'no-queue' } end
--- @include ledger
--- @include now
--- @include save
--- @include note
--- @include assignments
--- @include shelves
--- @include item
--- @include place
--- @include grant
--- @include where
--- @include describe
--- @include lost
--- @include soonest
--- @include draft
--- @include bars
--- @include due
--- @include due_again
--- @include taken_before
local member, grant
for _, one in ipairs(assignments(id)) do
  local latest = call('HGET', LEDGER, 'g:' .. one)
  if claims(latest, claim) and ending_of(latest) == 'finished' then member, grant = one, latest end
  if is_held(latest) and string.match(latest, '^%d+\t([^\t]*)\t') == person
    and mark_of(latest, 'u') == request then -- sent again after a lost reply
    return { 'leased', id, latest, payload_of(one, call('HGET', ITEMS, one)), draft_for(id, person) }
  end
end
if not member then return lost(id) end
if mark_of(grant, 'a') then return { 'adopted', describe(id) } end -- what a manager adopted is the manager's
local finished_at, result = string.match(grant, '\nfinished (%d+) %d\n(.*)$')
if now > finished_at + ARGV[6] then return { 'too-late' } end

-- The answer is the person's draft now, and the finish a grant of the past.
local line, people = string.match(grant, '^[^\n]*'), ''
for other in string.gmatch(call('HGET', DRAFTS, id) or '', '[^\t]+') do
  if other ~= person then people = people .. other .. '\t' end
end
call('HSET', DRAFTS, id .. '\t' .. person, result, id, people .. person)
call('HSET', LEDGER, 'g:' .. member, line .. '\nundone ' .. at)
local item = read_item(member)
item.a, item.w = mark_of(line, 'm') and (item.a or 0) or string.match(line, '^%d+\t[^\t]*\t%d+ %S+ (%d+)'), ''
local attempt, marks, draft = taken_before(item, id, person)
item.w = nil
write_item(item)
due_again(id)
local bars = call('HGET', BARS, id)
local sign, from, to = bar_of(bars, person)
if sign == '=' then
  call('HSET', BARS, id, string.sub(bars, 1, from) .. string.sub(bars, to + 1))
  for _, name in ipairs(assignments(id)) do -- they may have looked past what waits: a fresh entry
    local other = name ~= member and read_item(name)
    local state, _, set = where(other or item)
    if other and state == 'inbound' then
      place(other, true, now)
      if shelf_key(row_of(other), other.s) ~= set then call('ZREM', set, name) end
      now = now + 1
    end
  end
  at = string.format('%.0f', now)
end

token = string.format('%.0f', token + 1)
grant = token .. '\t' .. person .. '\t' .. at .. ' ' .. lease_seconds .. ' ' .. attempt .. ' u' .. request .. marks
local last, others = string.match(holdings or '\t', '^([^\t]*)(\t.*)$')
call('HSET', LEDGER, 'g:' .. member, grant, 'p:' .. person, last .. '\t' .. member .. others)
local expires = now + lease_seconds * 1000000
call('ZADD', RESERVED, expires, member)
call('ZREM', FINISHED, member)
expect(expires)
count('undone')
note('undone', id .. '\t' .. ARGV[3] .. '\t' .. person)
note('reserved', id .. '\t' .. token .. '\t' .. person)
tell()
return { 'leased', id, grant, payload_of(member, call('HGET', ITEMS, member)), draft }
