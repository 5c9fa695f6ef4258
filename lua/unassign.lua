#!lua flags=allow-oom
--[[ Takes an assignment to people back: anybody who has the skills may have the item again. What waited for
them goes to the front of its priority band; who holds it keeps it, and it stays open to everybody when it
comes back. An item that is assigned to nobody is left as it is.

KEYS   as adopt.lua
ARGV   1 the time in microseconds, or ''   2 id   3 by whom, or ''   4 from whom, or '' for everybody
REPLY  {'item', the item}   {'no-item'}   {'no-queue'} ]]
local id, by, assignee = ARGV[2], ARGV[3], ARGV[4]
--- @include assigning
--- @include describe
local refusal = queue.open()
if refusal then return refusal end
if not items.read(id) then return { 'no-item' } end
assigning.unassign(id, assignee, by)
commit()
return { 'item', describe(id) }
