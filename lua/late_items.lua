#!lua flags=no-writes
--[[ Some of the items that have late answers, in no order: those of one step through them.

KEYS   as get.lua
ARGV   1 the time (not used)   2 where the step begins: what the last one gave, or 0
       3 only items with a late answer that came at this time or later, or ''
REPLY  {'items', where the next step begins (0: there is none), {id, the item as get.lua gives it}, …}
       {'no-queue'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, HISTORY, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local STEP = 20
local status = call('HGET', LEDGER, 'status')
if not status then return { 'no-queue' } end
--- @include ledger
--- @include assignments
--- @include shelves
--- @include item
--- @include where
--- @include describe
local function came_since(text, least)
  for time in string.gmatch('\n\n' .. text, '\n\n%d+\t[^\t]*\t(%d+)\n') do
    if time + 0 >= least then return true end
  end
  return false
end
local step = call('HSCAN', LATE, ARGV[2], 'COUNT', STEP)
local found, entries = { 'items', step[1] }, step[2]
for i = 1, #entries, 2 do
  if ARGV[3] == '' or came_since(entries[i + 1], ARGV[3] + 0) then
    local known = describe(entries[i])
    if known then found[#found + 1] = { entries[i], known } end
  end
end
return found
