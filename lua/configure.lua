#!lua
--[[ Writes policy fields, and makes the queue where there is none. Values are JSON texts.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''   2 by whom, or ''   3 'create': only where there is no queue
       yet, else ''   then field, value, …
REPLY  {'ok', made 0|1} ]]
local call = redis.call
local LEDGER, JOURNAL = KEYS[1], KEYS[2]
local clock, skew, known = unpack(call('HMGET', LEDGER, 'clock', 'skew', 'lease_seconds'))
--- @include now
if known and ARGV[3] == 'create' then return { 'ok', 0 } end
local names = {}
for i = 4, #ARGV, 2 do
  call('HSET', LEDGER, ARGV[i], ARGV[i + 1])
  names[#names + 1] = ARGV[i]
end
call('HSET', LEDGER, 'clock', at)
if not known then call('HSET', LEDGER, 'shelves', '', 'token', '0') end
call('XADD', JOURNAL, at, known and 'configured' or 'created', '\t\t' .. ARGV[2] .. '\t' .. table.concat(names, ' '))
return { 'ok', known and 0 or 1 }
