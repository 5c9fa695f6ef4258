#!lua flags=allow-oom
--[[ Lets reserve go on.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''   2 by whom, or ''
REPLY  {'ok'}   {'no-queue'} ]]
local call = redis.call
local LEDGER, JOURNAL = KEYS[1], KEYS[2]
local status, paused = unpack(call('HMGET', LEDGER, 'status', 'paused'))
if not status then return { 'no-queue' } end
if not paused then return { 'ok' } end
--- @include status
--- @include now
--- @include save
open = call('HEXISTS', LEDGER, 'mixed') == 1 and 'mixed' or 'open'
call('HDEL', LEDGER, 'paused')
--- @include row_keys
--- @include shelves
--- @include line
save()
if call('HEXISTS', LEDGER, 'line') == 1 then
  local waiting = 0
  each_shelf(function(row, shelf) waiting = waiting + call('ZCARD', shelf_key(row, shelf)) end)
  wake(math.min(waiting, MOST_WOKEN))
end
call('XADD', JOURNAL, at, 'resumed', '\t\t' .. ARGV[2] .. '\t')
return { 'ok' }
