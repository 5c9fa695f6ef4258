--- @include places
--- @include grants
-- What is known of an item, for a reply: of its first assignment its state, its score, record, latest grant, history, late
-- answers, the policy's max_attempts and its row; then for each other assignment a list of the same.
local function describe_one(member)
  local item = items.read(member)
  if not item then return nil end
  local state, score = places.find(item)
  return { state or '', score or '0', items.shown(member), redis.call('HGET', keys.ledger, 'g:' .. member),
    redis.call('HGET', keys.history, member), redis.call('HGET', keys.late, member), queue.rules.max_attempts,
    shelves.row(item) }
end

local function describe(id)
  local known = describe_one(id)
  if not known then return nil end
  for i, member in ipairs(items.assignments(id)) do
    if i > 1 then known[7 + i] = describe_one(member) end
  end
  return known
end

-- The reply to a caller whose token is not good, or no longer: what is true now.
local function lost(id, kept)
  local known = describe(id)
  return known and { 'lost', kept and 1 or 0, known } or { 'no-item' }
end
