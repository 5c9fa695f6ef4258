#!lua flags=allow-oom
--[[ Takes back what is assigned to one person: some of what waits for them, and what they hold. What is
scheduled or dead is left as it is: `unassign` does it by id.

KEYS   as adopt.lua
ARGV   1 the time in microseconds, or ''   2 person   3 by whom, or ''   4 the most items, 1 to 250
REPLY  {'ok', how many items, more 0|1}   {'no-queue'} ]]
local person, by, limit = ARGV[2], ARGV[3], ARGV[4] + 0
--- @include assigning
--- @include holdings
local refusal = queue.open()
if refusal then return refusal end
local row, ids, is_listed, has_more = '@' .. person, {}, {}, false

local function list(members)
  for _, member in ipairs(members) do
    local id = items.id(member)
    if not is_listed[id] then ids[#ids + 1], is_listed[id] = id, true end
  end
end

list(holdings.read(person))
for shelf in shelves.names(row) do
  local members = redis.call('ZRANGE', shelves.key(row, shelf), 0, limit)
  has_more = has_more or #members > limit
  list(members)
end
local count = 0
for i = 1, #ids do
  if count == limit then
    has_more = true
    break
  end
  count = count + assigning.unassign(ids[i], person, by)
end
commit()
return { 'ok', count, has_more and 1 or 0 }
