--- @include queue
--[[ What happened, in the stream `journal`: one entry per call, whose id is the time. It has a field for each
change, named after what happened.

change = id TAB token TAB person [TAB detail]

id      the item's id; empty for a change of the queue itself
token   the token of the lease concerned; empty without one
person  who did it, or whose lease it was; empty for nobody
detail  JSON

The field `enqueued` has id *(TAB id) instead.

An entry has at most 1,000 changes. One item has at most 100 assignments, which change at most twice in a
call; a script that changes several items stops once the entry is full. Earlier versions wrote longer ones. ]]
local journal = { ENTRIES = 1000000, MAX_ENTRIES = 4000000 } -- how many are kept; MAX: if a group is behind
local FULL = 250 -- changes
local changes = {}

function journal.note(event, id, token, person, detail)
  local n = #changes
  changes[n + 1], changes[n + 2] = event, id .. '\t' .. token .. '\t' .. person .. (detail and '\t' .. detail or '')
end

function journal.is_full() return #changes >= 2 * FULL end

-- Writes the queue's state and the noted changes, if there is anything to write.
local function commit()
  if not changes[1] and not queue.is_changed() then return end
  queue.save()
  if changes[1] then redis.call('XADD', keys.journal, stamp(queue.now), unpack(changes)) end
end
