--- @include leases
--- @include cursors
-- Takes an item out of everything, and gives the tokens of the leases that ended by it.
local function forget(id)
  local tokens, first = {}, items.read(id)
  first.assignee = nil -- people put it off before it was assigned
  local row, signs, members = shelves.row(first), bars.read(id), items.assignments(id)
  drafts.drop_all(id)
  for _, member in ipairs(members) do
    local grant = grants.latest(member)
    if grants.is_held(grant) then
      local held_leases = holdings.read(grant.person)
      holdings.remove(held_leases, member)
      holdings.write(grant.person, held_leases)
      tokens[#tokens + 1] = grant.token
    end
    local _, _, key = places.find(items.read(member))
    if key then redis.call('ZREM', key, member) end
    redis.call('HDEL', keys.ledger, 'g:' .. member)
    redis.call('HDEL', keys.history, member)
    redis.call('HDEL', keys.items, member)
  end
  redis.call('HDEL', keys.late, id)
  redis.call('ZREM', keys.due, id)
  for person in bars.later_people(signs) do
    redis.call('ZREM', cursors.later_key(row, person), unpack(members))
  end
  redis.call('HDEL', keys.bars, id)
  return tokens
end
