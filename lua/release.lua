#!lua flags=allow-oom
--[[ Ends the leases of an item, of all holders or of one person; it returns to inbound. An item that nobody
holds is left as it is.

KEYS   as adopt.lua
ARGV   1 the time in microseconds, or ''   2 id   3 by whom, or ''   4 from whom, or '' for everybody
REPLY  {'item', the item}   {'no-item'}   {'no-queue'} ]]
local id, by, holder = ARGV[2], ARGV[3], ARGV[4]
--- @include deaths
--- @include describe
local refusal = queue.open()
if refusal then return refusal end
local first = items.read(id)
if not first then return { 'no-item' } end
local is_dead = deaths.has_died(first)
for _, member in ipairs(items.assignments(id)) do
  local grant = grants.latest(member)
  if grants.is_held(grant) and (holder == '' or grant.person == holder) then deaths.release(member, grant, by, is_dead) end
end
commit()
return { 'item', describe(id) }
