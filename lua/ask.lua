#!lua flags=allow-oom
--[[ Marks an item as one that somebody waits for: its end is published (see TELL_ASKER in lib/queue.lua).

KEYS   as adopt.lua
ARGV   1 the time in microseconds, or ''   2 id
REPLY  {'item', the item}   {'no-item'}   {'no-queue'} ]]
local id = ARGV[2]
--- @include items
--- @include grants
--- @include describe
local refusal = queue.open()
if refusal then return refusal end
local first = items.read(id)
if not first then return { 'no-item' } end
if not first.asked and first.expires and not redis.call('ZSCORE', keys.finished, id) and redis.call('ZREM', keys.expiring, id) == 1 then
  redis.call('ZADD', keys.questions, first.expires, id)
end
for _, member in ipairs(first.asked and {} or items.assignments(id)) do
  local item, grant = items.read(member), grants.latest(member)
  item.asked = ''
  items.write(item)
  if grant and not grant.special then
    grant.special = ''
    grants.write(member, grant)
  end
end
return { 'item', describe(id) }
