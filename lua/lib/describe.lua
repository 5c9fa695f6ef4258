--- @include places
--- @include grants
--- @include surplus
-- What is known about an item, for a reply: for its first assignment the state, score, record, latest grant,
-- history, late answers, the policy's max_attempts, the row and how many answers the item needs, followed by a newline
-- and its own form if it has one; then for each other assignment a list of the same, with '' for that number.
local function describe_assignment(member, is_further)
  local item = items.read(member)
  if not item then return nil end
  local state, score = places.find(item)
  local id = items.id(member)
  local needed_count = is_further and '' or stamp(surplus.needed_count(id == member and item or items.read(id)))
  if item.form and not is_further then needed_count = needed_count .. '\n' .. redis.call('HGET', keys.forms, item.form) end
  return { state or '', score or '0', items.full_record(member), redis.call('HGET', keys.ledger, 'g:' .. member),
    redis.call('HGET', keys.history, member), redis.call('HGET', keys.late, member), queue.rules.max_attempts,
    shelves.row(item), needed_count }
end

local function describe(id)
  local description = describe_assignment(id)
  if not description then return nil end
  for i, member in ipairs(items.assignments(id)) do
    if i > 1 then description[8 + i] = describe_assignment(member, true) end
  end
  return description
end

-- The reply to a caller whose token is not or no longer valid: the item's current state.
local function lost_reply(id, is_kept)
  local description = describe(id)
  return description and { 'lost', is_kept and 1 or 0, description } or { 'no-item' }
end
