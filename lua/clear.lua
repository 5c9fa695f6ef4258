#!lua flags=allow-oom
--[[ Returns items whose lease ran out, releases what is due, and forgets finished items that are older than
the policy's keep_finished_seconds, at most `limit` of all together. Two at once do no harm: each item is
moved once. Beside that, a step through what is left of people who are gone: see includes/tidy.lua.

KEYS   1 leaseq:{q}:ledger     2 leaseq:{q}:items  3 leaseq:{q}:inbound  4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled  6 leaseq:{q}:dead   7 leaseq:{q}:finished  8 leaseq:{q}:journal
       and, where something is to be forgotten, the keys of includes/other_keys.lua
ARGV   1 the time in microseconds, or ''   2 limit, 1 to 250
REPLY  {'ok', returned, released, died, more 0|1, forgotten}   {'no-queue'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, JOURNAL = KEYS[6], KEYS[7], KEYS[8]
local status, forgets, tidied = unpack(call('HMGET', LEDGER, 'status', 'forget', 'tidy'))
if not status then return { 'no-queue' } end
--- @include status
--- @include now
local some_old = forgets and now >= string.match(forgets, '^%d+') + 0
local untidy = not tidied or now >= string.match(tidied, '^%d+') + 0
if now < soonest + 0 and not some_old and not untidy then return { 'ok', 0, 0, 0, 0, 0 } end
--- @include rules
--- @include save
--- @include journal_size
--- @include note
--- @include assignments
--- @include shelves
--- @include item
--- @include place
--- @include grant
--- @include held
--- @include soonest
--- @include end_grant
--- @include where
--- @include die
--- @include sweep
--- @include read_by_all
local limit = ARGV[2] + 0
local returned, released, died = sweep(limit)
limit = limit - returned - released - died
local forgotten, more = 0, soonest + 0 <= now
if some_old then
  --- @include other_keys
  --- @include drop_drafts
  --- @include bars
  --- @include forget
  --- @include retain
end
at = string.format('%.0f', now)
if untidy then
  --- @include bars
  --- @include put_off
  --- @include tidy
  call('HSET', LEDGER, 'tidy', tidy(tidied))
end
save()
if events[1] then call('XADD', JOURNAL, at, unpack(events)) end
--- @include trim_journal
return { 'ok', returned, released, died, more and 1 or 0, forgotten }
