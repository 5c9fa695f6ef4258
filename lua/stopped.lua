#!lua flags=no-writes
--[[ The people who get no item until they are let work again.

KEYS   1 leaseq:{q}:ledger
ARGV   1 the time (not used)
REPLY  {'ok', {person, when TAB by whom or '' TAB the reason as JSON, …}}   {'no-queue'} ]]
--- @include queue
local refusal = queue.open(true)
if refusal then return refusal end
return { 'ok', redis.call('HGETALL', keys.stopped) }
