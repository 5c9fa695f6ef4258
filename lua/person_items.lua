#!lua flags=no-writes
--[[ One step through the items, in no order: those that name a person.

KEYS   as get.lua
ARGV   1 the time (not used)   2 person   3 where the step begins: what the last step returned, or 0
       4 about how many items to look at
REPLY  {'items', where the next step begins (0: there is none), {id, the item as get.lua returns it, their
       sign of lib/relations.lua or '', whether it is assigned to them 0|1, their draft or nil}, …}
       {'no-queue'} ]]
local person, from, count = ARGV[2], ARGV[3], ARGV[4]
--- @include describe
--- @include late_answers
--- @include relations
--- @include drafts

local function has_person(id)
  if late_answers.has_person(id, person) then return true end
  for _, member in ipairs(items.assignments(id)) do
    local grant = grants.latest(member)
    if grant and grant.person == person or grants.has_had(member, person) then return true end
  end
  return false
end

local refusal = queue.open(true)
if refusal then return refusal end
local step = redis.call('HSCAN', keys.items, from, 'COUNT', count)
local reply = { 'items', step[1] }
for i = 1, #step[2], 2 do
  local id = step[2][i]
  if id == items.id(id) then
    local signs, draft = relations.read(id), redis.call('HGET', keys.drafts, id .. '\t' .. person)
    local sign, is_assigned = relations.sign_of(signs, person), relations.is_assigned(signs, person)
    if sign or is_assigned or draft or has_person(id) then
      reply[#reply + 1] = { id, describe(id), sign or '', is_assigned and 1 or 0, draft or nil }
    end
  end
end
return reply
