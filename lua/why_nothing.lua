#!lua flags=no-writes
--[[ Why a reserve would get nothing now.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:inbound  3 leaseq:{q}:reserved  4 leaseq:{q}:scheduled
ARGV   1 the time in microseconds, or ''   2 person
REPLY  {'something'}   {'paused', reason as JSON}   {'held', when the first may come free}
       {'empty', when the first scheduled one is due, or ''} ]]
local call = redis.call
local LEDGER, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local status, paused, holdings = unpack(call('HMGET', LEDGER, 'status', 'paused',
  'p:' .. ARGV[2]))
if not status then return { 'empty', '' } end
--- @include ledger
--- @include queue_time
--- @include shelves
--- @include grant
--- @include alive
if alive_of(holdings) >= holds + 0 then return { 'something' } end
if paused then return { 'paused', paused } end
for name in string.gmatch(shelves, '%S+') do
  if call('ZCARD', shelf_key(name)) > 0 then return { 'something' } end
end
local lease = call('ZRANGE', RESERVED, 0, 0, 'WITHSCORES')[2]
local due = call('ZRANGE', SCHEDULED, 0, 0, 'WITHSCORES')[2]
if (lease and lease + 0 <= now) or (due and due + 0 <= now) then return { 'something' } end
if lease then return { 'held', due and due + 0 < lease + 0 and due or lease } end
return { 'empty', due or '' }
