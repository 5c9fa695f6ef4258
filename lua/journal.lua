#!lua flags=no-writes
--[[ Part of the journal, oldest entry first; backwards, latest first.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:journal
ARGV   1 the time (not used)   2 the entry to begin with; '-' for the oldest, '+' for the latest
       3 how many entries   4 'back', or ''
REPLY  {'entries', {entry id, {what, value, …}}, …}   {'no-queue'} ]]
if redis.call('HEXISTS', KEYS[1], 'status') == 0 then return { 'no-queue' } end
local reply
if ARGV[4] == 'back' then
  reply = redis.call('XREVRANGE', KEYS[2], ARGV[2], '-', 'COUNT', ARGV[3])
else
  reply = redis.call('XRANGE', KEYS[2], ARGV[2], '+', 'COUNT', ARGV[3])
end
table.insert(reply, 1, 'entries')
return reply
