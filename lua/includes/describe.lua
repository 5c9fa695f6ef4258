-- All that is known of one assignment: state, score, record, latest grant, history, late answers, max
-- attempts, row.
local function describe_one(member)
  local item = read_item(member)
  if not item then return nil end
  local state, score = where(item)
  return { state or '', score or '0', payload_of(member, call('HGET', ITEMS, member)),
    call('HGET', LEDGER, 'g:' .. member), call('HGET', HISTORY, member), call('HGET', LATE, member),
    max_attempts, row_of(item) }
end

-- All that is known of an item: its first assignment, then each other one.
local function describe(id)
  local known = describe_one(id)
  if not known then return nil end
  for i, member in ipairs(assignments(id)) do
    if i > 1 then known[7 + i] = describe_one(member) end
  end
  return known
end
