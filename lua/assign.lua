#!lua flags=allow-oom
--[[ Assigns an item to one person: only they may reserve it, until they give it back. It goes to the front of its
priority band. A scheduled item goes to them when it is due.

KEYS   as adopt.lua
ARGV   1 the time in microseconds, or ''   2 id   3 by whom, or ''   4 the person
       5 'assigned': not if what waits of it is assigned to somebody; or ''
REPLY  {'item', the item}   {'assigned'}   {'no-item'}   {'wrong-state', the item}: no assignment of it waits
       {'answered'}: they have answered or hold it   {'rows', how many rows may wait at the same time}
       {'no-queue'} ]]
local id, by, person, unless = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
--- @include answers
--- @include describe
local refusal = queue.open()
if refusal then return refusal end
if not items.read(id) then return { 'no-item' } end
local waiting_item, key, is_assigned
for _, member in ipairs(items.assignments(id)) do
  local item = items.read(member)
  local state, _, set = places.find(item)
  if items.is_for(item, person) and state ~= 'finished' and state ~= 'dead' then is_assigned = true end
  if (state == 'inbound' or state == 'scheduled') and (not waiting_item or waiting_item.assignee and not item.assignee) then
    waiting_item, key = item, set
  end
end
if is_assigned then return { 'item', describe(id) } end
if not answers.may_give(id, person, holdings.read(person)) then return { 'answered' } end
if not waiting_item then return { 'wrong-state', describe(id) } end
if unless == 'assigned' and waiting_item.assignee then return { 'assigned' } end
if shelves.too_many_rows({ ['@' .. person] = true }) then return { 'rows', shelves.ROW_LIMIT } end

assigning.assign(waiting_item, person)
if key == keys.scheduled then
  items.write(waiting_item)
else
  places.put(waiting_item, true)
  redis.call('ZREM', key, waiting_item.member)
end
queue.count('assigned')
journal.note('assigned', id, '', by, cjson.encode(person))
commit()
return { 'item', describe(id) }
