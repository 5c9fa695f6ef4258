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
call; a script that changes several items stops once the entry is full. ]]
--- @constant CHANGE(id, token, person) id .. '\t' .. token .. '\t' .. person
local journal = { ENTRIES = 1000000, MAX_ENTRIES = 4000000 } -- how many are kept; MAX: whether they were read or not
local FULL = 250 -- changes
local changes = {}

function journal.note(event, id, token, person, detail)
  local n = #changes
  changes[n + 1], changes[n + 2] = event, CHANGE(id, token, person) .. (detail and '\t' .. detail or '')
end

function journal.is_full() return #changes >= 2 * FULL end

-- Writes the queue's state and the noted changes, if there is anything to write.
local function commit()
  if not changes[1] and not queue.is_changed() then return end
  queue.save()
  if changes[1] then redis.call('XADD', keys.journal, stamp(queue.now), unpack(changes)) end
end

-- The time up to which each consumer group of the journal has read and acknowledged everything, by the
-- group's name. The id of an entry is its time.
function journal.group_positions()
  local positions = {}
  if redis.call('EXISTS', keys.journal) == 0 then return positions end
  for _, group in ipairs(redis.call('XINFO', 'GROUPS', keys.journal)) do
    local info = {}
    for i = 1, #group, 2 do info[group[i]] = group[i + 1] end
    local position = string.match(info['last-delivered-id'], '^%d+') + 0
    local pending_entry = info.pending > 0 and redis.call('XPENDING', keys.journal, info.name, '-', '+', 1)[1]
    if pending_entry then position = string.match(pending_entry[1], '^%d+') - 1 end
    positions[info.name] = position
  end
  return positions
end

-- The time up to which every group has done so; math.huge without a group.
function journal.lowest_position()
  local lowest = math.huge
  for _, position in pairs(journal.group_positions()) do lowest = math.min(lowest, position) end
  return lowest
end

-- Removes the oldest entries, at most about `step`: beyond `keep_count`, those that every consumer group has
-- read; beyond MAX_ENTRIES, any.
function journal.trim(keep_count, step)
  local excess = redis.call('XLEN', keys.journal) - keep_count
  if excess <= 0 then return end
  local position = journal.lowest_position()
  if position == math.huge then
    redis.call('XTRIM', keys.journal, 'MAXLEN', '~', keep_count, 'LIMIT', step)
  else
    redis.call('XTRIM', keys.journal, 'MINID', '~', stamp(position + 1), 'LIMIT', math.min(excess, step))
  end
  redis.call('XTRIM', keys.journal, 'MAXLEN', '~', journal.MAX_ENTRIES, 'LIMIT', step)
end
