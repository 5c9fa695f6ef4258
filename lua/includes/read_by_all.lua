-- The time up to which every consumer group of the journal has read and acknowledged all; math.huge where
-- there is none. The id of an entry is its time.
local function read_by_all()
  local read = math.huge
  if call('EXISTS', JOURNAL) == 0 then return read end
  for _, group in ipairs(call('XINFO', 'GROUPS', JOURNAL)) do
    local known = {}
    for i = 1, #group, 2 do known[group[i]] = group[i + 1] end
    local last = string.match(known['last-delivered-id'], '^%d+') + 0
    local first_pending = known.pending > 0 and call('XPENDING', JOURNAL, known.name, '-', '+', 1)[1]
    if first_pending then last = string.match(first_pending[1], '^%d+') - 1 end
    read = math.min(read, last)
  end
  return read
end
