#!lua flags=allow-oom
--[[ Takes a waiter out of the line. If they were woken, the next in line is, for what they leave.

KEYS   1 leaseq:{q}:ledger
ARGV   1 the time in microseconds, or ''   2 waiter
REPLY  {'ok'} ]]
local call = redis.call
local LEDGER = KEYS[1]
local waiter = ARGV[2]
local status = call('HGET', LEDGER, 'status')
if not status then return { 'ok' } end
--- @include status
--- @include now
--- @include line
local terms = call('HGET', LINE_UNTIL, waiter)
if terms and not call('ZSCORE', LINE, waiter) and open ~= 'paused' and (shelves ~= '' or open == 'mixed') then
  wake(1)
end
leave_line(waiter)
return { 'ok' }
