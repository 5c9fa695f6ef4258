--- @include leases
--- @include cursors
-- Deletes all that is stored about an item, and returns the tokens of the leases that this ended.
local function forget(id)
  local tokens, first = {}, items.read(id)
  first.assignee = nil -- its row before it was assigned, where people put it off
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
