--- @include journal
-- The time up to which each consumer group of the journal has read and acknowledged everything, by the
-- group's name. The id of an entry is its time.
local function group_positions()
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
local function lowest_position()
  local lowest = math.huge
  for _, position in pairs(group_positions()) do lowest = math.min(lowest, position) end
  return lowest
end
