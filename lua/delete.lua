#!lua flags=allow-oom
--[[ Begins to delete a queue, or one that load.lua began: from now on no other call finds it. delete_keys.lua
removes the rest of it. The last token is kept in a key of its own, so that a new queue of this name grants
higher tokens.

KEYS   1 leaseq:{q}:ledger
ARGV   1 the time (not used)   2 a policy's version: only if that policy is in force; else ''
REPLY  {'ok'}: begun, now or earlier   {'changed'}: another policy is in force, and nothing changed
       {'no-queue'} ]]
local expected_version = ARGV[2]
--- @include policy_version
local refusal = queue.open(true, redis.call('HGET', keys.ledger, 'loading') or nil)
if refusal then
  return refusal[1] == 'no-queue' and redis.call('HEXISTS', keys.ledger, 'deleted') == 1 and { 'ok' } or refusal
end
if expected_version ~= '' and policy_version() ~= expected_version then return { 'changed' } end
redis.call('UNLINK', keys.absent) -- a user without this right is refused here, before anything changes
if queue.token > 0 then redis.call('HSET', keys.deleted, 'token', stamp(queue.token)) end
redis.call('HSET', keys.ledger, 'deleted', 1)
redis.call('HDEL', keys.ledger, 'status', 'loading')
return { 'ok' }
