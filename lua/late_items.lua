#!lua flags=no-writes
--[[ One step through the items that have late answers, in no order.

KEYS   as get.lua
ARGV   1 the time (not used)   2 where the step begins: what the last step returned, or 0
       3 about how many items   4 only items with a late answer that came at this time or later, or ''
REPLY  {'items', where the next step begins (0: there is none), {id, the item as get.lua returns it}, …}
       {'no-queue'} ]]
local from, count, min_time = ARGV[2], ARGV[3], ARGV[4]
--- @include describe
--- @include late_answers

local refusal = queue.open(true)
if refusal then return refusal end
local step = redis.call('HSCAN', keys.late, from, 'COUNT', count)
local reply = { 'items', step[1] }
for i = 1, #step[2], 2 do
  local id = step[2][i]
  local description = (min_time == '' or late_answers.has_since(id, min_time + 0)) and describe(id)
  if description then reply[#reply + 1] = { id, description } end
end
return reply
