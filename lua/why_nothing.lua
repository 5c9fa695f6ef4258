#!lua flags=no-writes
--[[ Why a reserve would get nothing now.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items  3 leaseq:{q}:inbound  4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled
ARGV   1 the time in microseconds, or ''   2 person   3 skills as for reserve, or ''
REPLY  {'something'}   {'paused', reason as JSON}
       {'not-eligible', when the first may come free, or '', then as includes/obstacles.lua says}
       {'held', when the first may come free}   {'empty', when the first scheduled one is due, or ''}
       {'no-queue'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local person, skills = ARGV[2], ARGV[3]
local status, paused, holdings = unpack(call('HMGET', LEDGER, 'status', 'paused', 'p:' .. person))
if not status then return { 'no-queue' } end
--- @include ledger
--- @include queue_time
--- @include assignments
--- @include shelves
--- @include item
--- @include grant
--- @include alive
--- @include choose
--- @include obstacles
if alive_of(holdings) >= holds + 0 then return { 'something' } end
if paused then return { 'paused', paused } end
local rows = {}
each_shelf(function(row, shelf)
  if not rows[row] and call('EXISTS', shelf_key(row, shelf)) == 1 then rows[row] = true end
end)
if next(rows) then
  local found, more = choose(skills)
  if found or more then return { 'something' } end
end
local lease = call('ZRANGE', RESERVED, 0, 0, 'WITHSCORES')[2]
local due = call('ZRANGE', SCHEDULED, 0, 0, 'WITHSCORES')[2]
if (lease and lease + 0 <= now) or (due and due + 0 <= now) then return { 'something' } end
local free = lease and due and string.format('%.0f', math.min(lease + 0, due + 0)) or lease or due or ''
if next(rows) then return { 'not-eligible', free, unpack(obstacles(rows)) } end
if lease then return { 'held', free } end
return { 'empty', due or '' }
