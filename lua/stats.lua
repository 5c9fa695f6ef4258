#!lua flags=no-writes
--[[ Counts of the five states, the age of the oldest in inbound, the counters.

KEYS   1 leaseq:{q}:ledger     2 leaseq:{q}:inbound   3 leaseq:{q}:reserved
       4 leaseq:{q}:scheduled  5 leaseq:{q}:finished  6 leaseq:{q}:dead
ARGV   1 the time in microseconds, or ''   then the names of the counters
REPLY  {'stats', inbound, reserved, scheduled, finished, dead, the oldest's age in microseconds or nil,
       the pause's reason as JSON or nil, how many are overdue, how many people wait for an item, counter, …}
       {'no-queue'} ]]
local call = redis.call
local LEDGER, INBOUND = KEYS[1], KEYS[2]
local fields = {}
for i = 2, #ARGV do fields[i - 1] = 'n:' .. ARGV[i] end
local status, paused = unpack(call('HMGET', LEDGER, 'status', 'paused'))
if not status then return { 'no-queue' } end
--- @include status
--- @include queue_time
--- @include shelves
--- @include due
--- @include waiting
local inbound, oldest = 0, nil
each_shelf(function(row, shelf)
  local key = shelf_key(row, shelf)
  inbound = inbound + call('ZCARD', key)
  local score = call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
  if score and (not oldest or score + 0 < oldest) then oldest = score + 0 end
end)
local reply = { 'stats', inbound }
for i = 3, 6 do reply[i] = call('ZCARD', KEYS[i]) end
reply[7] = oldest and string.format('%.0f', math.max(now - oldest, 0)) or false
reply[8] = paused or false
reply[9] = call('ZCOUNT', DUE, '-inf', '(' .. string.format('%.0f', now))
reply[10] = waiting()
local counted = { ['n:reserved'] = token, ['n:finished'] = finished }
for i, value in ipairs(call('HMGET', LEDGER, unpack(fields))) do
  reply[10 + i] = counted[fields[i]] or value or 0
end
return reply
