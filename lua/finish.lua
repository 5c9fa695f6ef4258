#!lua flags=allow-oom
--[[ Takes an item's answer from its holder; with `then`, also gives them the next item. A lease that ran
out still counts while nobody else was granted the item since. An answer that is refused is kept.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:drafts 11 leaseq:{q}:late
ARGV   1 the time in microseconds, or ''   2 id   3 token   4 person   5 result   6 request id
       7 the version of the form that the result was checked against, or ''   8 'then' or ''
REPLY  {'finished', late 0|1, replayed 0|1, the next lease as `reserve` gives it or {'nothing'}}
       {'form'}: the queue's form is another one: check again   {'lost', kept 0|1, the item}   {'no-item'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, JOURNAL, HISTORY, DRAFTS, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11]
local id, person, result = ARGV[2], ARGV[4], ARGV[5]
local claim = ARGV[3] .. '\t' .. person .. '\t'
local clock, skew, grant, holdings, finished, form, token, shelves, soonest, lease_seconds, holds, paused = unpack(
  call('HMGET', LEDGER, 'clock', 'skew', 'g:' .. id, 'p:' .. person, 'n:finished', 'form_version', 'token',
    'shelves', 'soonest', 'lease_seconds', 'holds', 'paused'))
--- @include now
--- @include events
--- @include changes
--- @include count
--- @include shelves
--- @include item
--- @include place
--- @include grant
--- @include where
--- @include held
--- @include soonest
--- @include end_grant
--- @include sweep
--- @include draft
--- @include take
--- @include reserve_for
--- @include describe
--- @include late
--- @include lost
if (form or '') ~= ARGV[7] then return { 'form' } end
tick(clock, skew)

local late, replayed = false, false
if claims(grant, claim) and is_held(grant) then
  late = soonest and now >= soonest + 0 and now >= expiry_of(grant)
  call('ZADD', FINISHED, at, id)
  call('ZREM', RESERVED, id)
  holdings = without(holdings, id)
elseif claims(grant, claim) and ending_of(grant) == 'expired' then
  late = true
  local _, _, set = where(read_item(id))
  call('ZADD', FINISHED, at, id)
  call('ZREM', set, id)
  grant = string.match(grant, '^[^\n]*')
elseif claims(grant, claim) and ending_of(grant) == 'finished' then
  local was_late, same = string.match(grant, '\nfinished %d+ (%d)\n(.*)$')
  if same ~= result then return lost(id, keep_late(id, grant, claim, result)) end
  late, replayed = was_late == '1', true
else
  return lost(id, keep_late(id, grant, claim, result))
end

if not replayed then
  if has_draft(grant) then drop_drafts(id) end
  changes = { 'n:finished', (finished or 0) + 1, 'p:' .. person, holdings or '',
    'g:' .. id, grant .. '\nfinished ' .. at .. (late and ' 1\n' or ' 0\n') .. result }
  note('finished', id .. '\t' .. ARGV[3] .. '\t' .. person)
end
local following = ARGV[8] == 'then' and reserve_for(person, ARGV[6], holdings)
if events[1] then
  local n = #changes
  changes[n + 1], changes[n + 2] = 'clock', at
  write_changes()
  write_journal(at)
end
return { 'finished', late and 1 or 0, replayed and 1 or 0, following }
