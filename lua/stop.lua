#!lua flags=allow-oom
--[[ Gives a person no item any more until they are let work again; what they hold they may still finish.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''   2 person   3 by whom, or ''   4 the reason as JSON, or '' to let
       them work
REPLY  {'ok'}   {'no-queue'} ]]
local person, by, reason = ARGV[2], ARGV[3], ARGV[4]
--- @include holdings
--- @include journal
local refusal = queue.open()
if refusal then return refusal end
local earlier_stop, held_leases = redis.call('HGET', keys.stopped, person), holdings.read(person)
if (earlier_stop and string.match(earlier_stop, '[^\t]*$') or '') == reason then return { 'ok' } end
held_leases.is_stopped = reason ~= ''
holdings.write(person, held_leases)
if reason ~= '' then
  redis.call('HSET', keys.stopped, person, stamp(queue.now) .. '\t' .. by .. '\t' .. reason)
  journal.note('stopped', '', '', person, reason)
else
  redis.call('HDEL', keys.stopped, person)
  journal.note('let-work', '', '', person)
end
commit()
return { 'ok' }
