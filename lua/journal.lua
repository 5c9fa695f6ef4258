#!lua flags=no-writes
--[[ A stretch of the journal, the oldest first.

KEYS   1 leaseq:{q}:journal
ARGV   1 the time (not used)   2 the entry to begin with, or '-'   3 how many entries
REPLY  {'entries', {entry id, {what, value, …}}, …} ]]
local reply = redis.call('XRANGE', KEYS[1], ARGV[2], '+', 'COUNT', ARGV[3])
table.insert(reply, 1, 'entries')
return reply
