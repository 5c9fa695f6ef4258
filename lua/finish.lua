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
local id, person, result, request = ARGV[2], ARGV[4], ARGV[5], ARGV[6]
local claim = ARGV[3] .. '\t' .. person .. '\t'
local clock, skew, grant, holdings, finished, form, soonest, token, shelves, lease_seconds, holds, paused = unpack(
  call('HMGET', LEDGER, 'clock', 'skew', 'g:' .. id, 'p:' .. person, 'n:finished', 'form_version', 'soonest',
    'token', 'shelves', 'lease_seconds', 'holds', 'paused'))
if (form or '') ~= ARGV[7] then return { 'form' } end
--- @include now

local late, replayed, source = false, false, RESERVED
if not grant or string.sub(grant, 1, #claim) ~= claim or string.find(grant, '\n', 1, true) then
  -- Not the holder now: ran out, sent again, or lost.
  --- @include count
  --- @include shelves
  --- @include item
  --- @include grant
  --- @include where
  --- @include describe
  --- @include late
  --- @include lost
  local ending = claims(grant, claim) and ending_of(grant)
  if ending == 'expired' then
    late = true
    local _, _, set = where(read_item(id))
    source, grant = set, string.match(grant, '^[^\n]*')
  elseif ending == 'finished' then
    local was_late, same = string.match(grant, '\nfinished %d+ (%d)\n(.*)$')
    if same ~= result then return lost(id, keep_late(id, grant, claim, result)) end
    late, replayed = was_late == '1', true
  else
    return lost(id, keep_late(id, grant, claim, result))
  end
elseif soonest and now >= soonest + 0 then
  --- @include grant
  late = now >= expiry_of(grant)
end

local changes, events = { 'clock', at }, {}
if not replayed then
  if string.find(grant, ' w', #claim, true) then
    --- @include draft
    drop_drafts(id)
  end
  local first, last = string.find(holdings or '', '\t' .. id .. '\t', 1, true)
  if first then holdings = string.sub(holdings, 1, first) .. string.sub(holdings, last + 1) end
  call('ZADD', FINISHED, at, id)
  changes = { 'clock', at, 'n:finished', (finished or 0) + 1, 'p:' .. person, holdings or '',
    'g:' .. id, grant .. '\nfinished ' .. at .. (late and ' 1\n' or ' 0\n') .. result }
  call('ZREM', source, id)
  events = { 'finished', id .. '\t' .. ARGV[3] .. '\t' .. person }
end
if ARGV[8] == 'then' then
  --- @include take
  return { 'finished', late and 1 or 0, replayed and 1 or 0, reply or { 'nothing' } }
end
if events[1] then
  call('HSET', LEDGER, unpack(changes))
  call('XADD', JOURNAL, at, unpack(events))
end
return { 'finished', late and 1 or 0, replayed and 1 or 0 }
