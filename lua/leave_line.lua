#!lua flags=allow-oom
--[[ Ends a wait whose caller has got nothing. The waiter leaves the line: where they were woken, the next in
line is, for what they leave. What their request was granted in the meantime, and was never handed over, goes
back to inbound.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history
ARGV   1 the time in microseconds, or ''   2 waiter   3 person   4 request id
       5 the last token that the waiter knows was not theirs, 0 where they know of none
REPLY  {'ok'} ]]
local call = redis.call
local LEDGER = KEYS[1]
local waiter, person, request = ARGV[2], ARGV[3], ARGV[4]
local status, holdings = unpack(call('HMGET', LEDGER, 'status', 'p:' .. person))
if not status then return { 'ok' } end
--- @include status
--- @include now
--- @include line
local terms = call('HGET', LINE_UNTIL, waiter)
if terms and not call('ZSCORE', LINE, waiter) and open ~= 'paused' and (shelves ~= '' or open == 'mixed') then
  wake(1)
end
leave_line(waiter)

-- The request that a person's hands name is that of the latest that a reserve gave them, unless that is gone by
-- now. What they took back by an undo is no such grant.
local member, grant, latest = nil, nil, ARGV[5] + 0
if string.match(holdings or '', '^ ?([^\t]*)') == request then
  --- @include grant
  for id in string.gmatch(holdings, '\t([^\t]+)') do
    local one = call('HGET', LEDGER, 'g:' .. id)
    local token = string.match(one, '^%d+') + 0
    if token > latest and not mark_of(one, 'u') then member, grant, latest = id, one, token end
  end
end
if grant then
  local ITEMS, INBOUND, RESERVED, SCHEDULED, DEAD = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
  local FINISHED, JOURNAL, HISTORY = KEYS[7], KEYS[8], KEYS[9]
  --- @include rules
  --- @include save
  --- @include note
  --- @include assignments
  --- @include shelves
  --- @include item
  --- @include place
  --- @include grant
  --- @include where
  --- @include held
  --- @include end_grant
  --- @include die
  --- @include let_go
  let_go(member, grant, person, died_before(read_item(member)))
  tell()
end
return { 'ok' }
