#!lua flags=allow-oom
--[[ Moves a dead item back to inbound and resets its failures. An item that is neither dead nor finished is
left as it is.

KEYS   as adopt.lua
ARGV   1 the time in microseconds, or ''   2 id   3 by whom, or ''
REPLY  {'item', the item}   {'wrong-state', the item}   {'no-item'}   {'no-queue'} ]]
local id, by = ARGV[2], ARGV[3]
--- @include missing
--- @include describe
local refusal = queue.open()
if refusal then return refusal end
local first = items.read(id)
if not first then return { 'no-item' } end
local dead_members, waiting_entries, is_finished = {}, {}, true
for _, member in ipairs(items.assignments(id)) do
  local state, _, key = places.find(items.read(member))
  if state == 'dead' then dead_members[#dead_members + 1] = member end
  if state == 'inbound' then waiting_entries[#waiting_entries + 1] = { member, key } end
  is_finished = is_finished and state == 'finished'
end
if is_finished then return { 'wrong-state', describe(id) } end
if not dead_members[1] then return { 'item', describe(id) } end

first.failures = nil
places.need_again(first)
items.write(first)
relations.drop_abandons(id)
if first.due then redis.call('ZADD', keys.due, first.due, id) end
for _, member in ipairs(dead_members) do
  places.put(items.read(member), true)
  redis.call('ZREM', keys.dead, member)
  queue.count('revived')
  journal.note('revived', id, '', by)
end
for _, entry in ipairs(waiting_entries) do places.put_anew(items.read(entry[1]), entry[2]) end
if first.answers then missing.open(id) end
commit()
return { 'item', describe(id) }
