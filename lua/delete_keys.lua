#!lua flags=allow-oom
--[[ One step of deleting a queue, once delete.lua has begun: unlinks some of its keys, whose memory the server frees beside its
other work, and wakes some of those who wait.

KEYS   1 leaseq:{q}:ledger
ARGV   1 the time (not used)   2 end: the ledger goes, too, and all is done; else ''
       then of each key what its name has behind leaseq:{q}:
REPLY  {'ok', whether there are more who wait 0|1}   {'no-queue'}: nothing is being deleted ]]
--- @include keys
local MOST_WOKEN = 250 -- in one call
if redis.call('HEXISTS', keys.ledger, 'deleted') == 0 then return { 'no-queue' } end
local woken = redis.call('ZRANGE', keys.line, 0, MOST_WOKEN - 1)
if woken[1] then
  redis.call('ZREM', keys.line, unpack(woken))
  redis.call('PUBLISH', keys.wake, table.concat(woken, ' '))
end
for i = 3, #ARGV do redis.call('UNLINK', keys[ARGV[i]]) end
if ARGV[2] == 'end' then redis.call('UNLINK', keys.ledger) end
return { 'ok', #woken == MOST_WOKEN and 1 or 0 }
