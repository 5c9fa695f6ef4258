#!lua flags=allow-oom
--[[ One step of deleting a queue, after delete.lua: unlinks some of its keys, whose memory the server frees
in the background, and wakes some of its waiters.

KEYS   1 leaseq:{q}:ledger
ARGV   1 the time (not used)   2 end: this is the last step, and unlinks the ledger, too; else ''
       then, for each key, the part of its name after leaseq:{q}:
REPLY  {'ok', whether there are more waiters 0|1}   {'no-queue'}: nothing is being deleted ]]
--- @include queue
local WAKE_LIMIT = 250 -- in one call
if redis.call('HEXISTS', keys.ledger, 'deleted') == 0 then return { 'no-queue' } end
local waiters = redis.call('ZRANGE', keys.waiters, 0, WAKE_LIMIT - 1)
if waiters[1] then
  redis.call('ZREM', keys.waiters, unpack(waiters))
  redis.call('PUBLISH', keys.wake, table.concat(waiters, ' '))
end
for i = 3, #ARGV do redis.call('UNLINK', keys[ARGV[i]]) end
if ARGV[2] == 'end' then redis.call('UNLINK', keys.ledger) end
return { 'ok', #waiters == WAKE_LIMIT and 1 or 0 }
