#!lua flags=allow-oom
--[[ Returns items whose lease ran out and releases what is due, at most `limit` of both together. Two at
once do no harm: each item is moved once.

KEYS   1 leaseq:{q}:ledger     2 leaseq:{q}:items  3 leaseq:{q}:inbound  4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled  6 leaseq:{q}:dead   7 leaseq:{q}:finished  8 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''   2 limit, 1 to 250
REPLY  {'ok', returned, released, died, more 0|1} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, JOURNAL = KEYS[6], KEYS[7], KEYS[8]
local status = call('HGET', LEDGER, 'status')
if not status then return { 'ok', 0, 0, 0, 0 } end
--- @include ledger
--- @include now
--- @include save
--- @include journal_size
--- @include note
--- @include assignments
--- @include shelves
--- @include item
--- @include place
--- @include grant
--- @include held
--- @include soonest
--- @include end_grant
--- @include where
--- @include die
--- @include sweep
if now < soonest + 0 then return { 'ok', 0, 0, 0, 0 } end
local returned, released, died = sweep(ARGV[2] + 0)
at = string.format('%.0f', now)
save()
if events[1] then
  call('XADD', JOURNAL, at, unpack(events))
  call('XTRIM', JOURNAL, 'MAXLEN', '~', JOURNAL_ENTRIES)
end
return { 'ok', returned, released, died, soonest + 0 <= now and 1 or 0 }
