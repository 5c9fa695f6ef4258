--- @include journal
-- The time up to which each consumer group of the journal has read and acknowledged all, by the group's name. The id of
-- an entry is its time.
local function read_by_group()
  local read = {}
  if redis.call('EXISTS', keys.journal) == 0 then return read end
  for _, group in ipairs(redis.call('XINFO', 'GROUPS', keys.journal)) do
    local known = {}
    for i = 1, #group, 2 do known[group[i]] = group[i + 1] end
    local last = string.match(known['last-delivered-id'], '^%d+') + 0
    local pending = known.pending > 0 and redis.call('XPENDING', keys.journal, known.name, '-', '+', 1)[1]
    if pending then last = string.match(pending[1], '^%d+') - 1 end
    read[known.name] = last
  end
  return read
end

-- The time up to which every group has done so; math.huge without a group.
local function read_by_all()
  local all = math.huge
  for _, read in pairs(read_by_group()) do all = math.min(all, read) end
  return all
end
