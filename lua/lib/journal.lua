--- @include queue
--[[ What happened, for the stream `journal`: one entry for a call, whose id is the time; in it a field for each change,
by the name of what happened.

change = id TAB token TAB person [TAB detail]

id      the item's; empty for a change of the queue itself
token   of the lease that it is about; empty where it is about none
person  who did it, or whose lease it was; empty for nobody
detail  JSON

In the field `enqueued`: id *(TAB id). ]]
local journal = { ENTRIES = 1000000, MAX_ENTRIES = 4000000 } -- how many are kept, and while a consumer group is behind
local changes = {}

function journal.note(event, id, token, person, detail)
  local n = #changes
  changes[n + 1], changes[n + 2] = event, id .. '\t' .. token .. '\t' .. person .. (detail and '\t' .. detail or '')
end

-- Writes the queue's state and what was noted, where there is anything to write.
local function commit()
  if not changes[1] and not queue.is_changed() then return end
  queue.save()
  if changes[1] then redis.call('XADD', keys.journal, stamp(queue.now), unpack(changes)) end
end
