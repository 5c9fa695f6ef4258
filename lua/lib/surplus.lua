--- @include grants
--- @include drafts
--- @include journal
-- Assignments that an item no longer needs, since the number of its answers was lowered. A closed one is in
-- `finished` without an answer. One that is held stays with its holder, whose answer counts; it is closed when
-- it comes back.
local surplus = {}

-- How many assignments an item has, which are numbered without gaps.
local function count_assignments(id)
  local function exists(round) return redis.call('HEXISTS', keys.items, id .. '\a' .. round) == 1 end
  local low, high = 1, 2
  while queue.mode ~= 'open' and exists(high) do low, high = high, 2 * high end
  while low + 1 < high and queue.mode ~= 'open' do
    local middle = math.floor((low + high) / 2)
    if exists(middle) then low = middle else high = middle end
  end
  return low
end

-- How many answers an item needs, from its first assignment: its own number, else the policy's. Once its last
-- assignment was handed out it gets no further one, whatever the policy says by now.
function surplus.needed_count(first)
  if first.answers then return first.answers + 0 end
  local count = count_assignments(first.member)
  local last_member = first.member .. (count > 1 and '\a' .. count or '')
  if redis.call('HEXISTS', keys.ledger, 'g:' .. last_member) == 1 then return count end
  return math.max(queue.rules.answers, count)
end

-- Whether an assignment was closed: it is in `finished` without an answer.
function surplus.is_closed(member)
  if not redis.call('ZSCORE', keys.finished, member) then return false end
  local grant = grants.latest(member)
  return not grant or grant.ending ~= 'finished'
end

-- Whether the item's other assignments are as many as it needs: those that have an answer, may get one, or are
-- dead for want of one. Only items with a number of their own have any.
function surplus.is_one(item)
  if not item.answers then return false end
  local count = 0
  for _, member in ipairs(items.assignments(items.id(item.member))) do
    if member ~= item.member and not surplus.is_closed(member) then count = count + 1 end
  end
  return count >= item.answers + 0
end

-- Closes an assignment; the caller removes it from the set that it was in. Returns true.
function surplus.close(item)
  local id, is_complete = items.id(item.member), true
  redis.call('ZADD', keys.finished, queue.now, item.member)
  items.write(item)
  journal.note('closed', id, '', '')
  -- It is no answer, but one of the entries that keep_finished_count limits: see lib/retention.lua.
  if queue.rules.keep_finished_count then redis.call('HINCRBY', keys.ledger, 'full', -1) end
  for _, member in ipairs(items.assignments(id)) do is_complete = is_complete and redis.call('ZSCORE', keys.finished, member) end
  if is_complete then drafts.drop_all(id) end
  if is_complete then redis.call('ZREM', keys.due, id) end
  if is_complete and item.asked then TELL_ASKER(id) end
  return true
end
