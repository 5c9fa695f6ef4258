#!lua flags=allow-oom
--[[ Ends an item that nobody needs any more: what waits, is scheduled or is held of it is dead at once. An answer that
still comes is kept as a late answer; answers that count stay. A dead item is left as it is.

KEYS   as adopt.lua
ARGV   1 the time in microseconds, or ''   2 id   3 by whom, or ''   4 the reason as JSON
REPLY  {'item', the item}   {'wrong-state', the item}: it is finished   {'no-item'}   {'no-queue'} ]]
local id, by, reason = ARGV[2], ARGV[3], ARGV[4]
--- @include deaths
--- @include describe
local refusal = queue.open()
if refusal then return refusal end
local first = items.read(id)
if not first then return { 'no-item' } end
if deaths.end_item(id, reason, by, true) then
  if first.expires then redis.call('ZREM', keys.expiring, id) end
  queue.count('cancelled')
  journal.note('cancelled', id, '', by, reason)
  commit()
  return { 'item', describe(id) }
end
return { places.has_dead(id) and 'item' or 'wrong-state', describe(id) }
