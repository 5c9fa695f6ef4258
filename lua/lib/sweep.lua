--- @include deaths
-- Takes back leases that ran out, and releases items that are due.
local sweep = {}

-- Each change has a time of its own, so that sets stay in order. Returns whether the item died.
function sweep.expire(member)
  queue.tick()
  local item, grant = items.read(member), grants.latest(member)
  leases.close(item, grant, 'expired')
  queue.count('expired')
  journal.note('expired', items.id(member), grant.token, grant.person)
  local is_dead = deaths.count_failure(item)
  if is_dead then is_dead = deaths.die(item, grant.token, grant.person) else places.put(item, true) end
  redis.call('ZREM', keys.reserved, member)
  return is_dead
end

-- A member without a record is left over from an enqueue that the server aborted, and so never acknowledged.
local function release_due(member)
  queue.tick()
  local item = items.read(member)
  if item then
    places.put(item, item.attempts or item.assignee)
    journal.note('due', items.id(member), '', '')
  end
  redis.call('ZREM', keys.scheduled, member)
  return item ~= nil
end

local function first_time(key) return tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] or NEVER) end

-- At most `limit` in total, and no more once the journal's entry is full. Returns how many items returned, were released, and died.
function sweep.run(limit)
  local return_count, release_count, death_count, time = 0, 0, 0, stamp(queue.now)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', keys.reserved, '-inf', time, 'LIMIT', 0, limit)) do
    if journal.is_full() then break end
    if sweep.expire(member) then death_count = death_count + 1 else return_count = return_count + 1 end
  end
  local remaining = limit - return_count - death_count
  for _, member in ipairs(remaining > 0 and redis.call('ZRANGEBYSCORE', keys.scheduled, '-inf', time, 'LIMIT', 0, remaining) or {}) do
    if journal.is_full() then break end
    if release_due(member) then release_count = release_count + 1 end
  end
  queue.next_sweep = math.min(first_time(keys.reserved), first_time(keys.scheduled), queue.mode == 'open' and NEVER or math.min(first_time(keys.expiring), first_time(keys.questions)))
  return return_count, release_count, death_count
end
