--- @include shelves
--- @include waiters
--- @include surplus
-- Which set an assignment is in, and how one comes back to inbound.
local places = {}
local must_wake, has_entered

-- Puts an assignment on its shelf, and wakes a waiter. `is_returned`: it was handed out before. Without a
-- score it goes to the end, with a time of its own. One that its item no longer needs is closed instead: then
-- it returns true.
function places.put(item, is_returned, score)
  if item.answers and surplus.is_one(item) then return surplus.close(item) end
  if has_entered and not score then queue.tick() end
  has_entered = true
  local round = items.round(item.member)
  local shelf = shelves.band(item.priority) .. (round > 1 and ':' .. round or '') .. (is_returned and ':returned' or '')
  item.shelf = shelf ~= 'normal' and shelf or nil
  redis.call('ZADD', shelves.key_of(item), score or queue.now, item.member)
  shelves.open(shelves.row(item), shelf)
  items.write(item)
  if must_wake == nil then must_wake = waiters.can_be_woken() end
  if must_wake then waiters.wake(1) end
end

-- An assignment's state, its score in the set of that state, and the set's key.
function places.find(item)
  for _, state in ipairs({ 'reserved', 'inbound', 'finished', 'scheduled', 'dead' }) do
    local key = state == 'inbound' and shelves.key_of(item) or keys[state]
    local score = redis.call('ZSCORE', key, item.member)
    if score then return state, score, key end
  end
end

-- Moves a waiting assignment to the end of its shelf, so that somebody who passed it over finds it again.
function places.put_anew(item, key)
  if places.put(item, true) or shelves.key_of(item) ~= key then redis.call('ZREM', key, item.member) end
end

-- Whether an assignment of the item is dead. `except`: one that does not count.
function places.has_dead(id, except)
  for _, member in ipairs(items.assignments(id)) do
    if member ~= except and redis.call('ZSCORE', keys.dead, member) then return true end
  end
end

-- An item with a due date is in the set `due` until it is finished or removed, or an assignment of it is dead.
-- `leaving_member`: an assignment that this call takes from the dead.
function places.enter_due(id, leaving_member)
  local due = not places.has_dead(id, leaving_member) and items.read(id).due
  if due then redis.call('ZADD', keys.due, due, id) end
end

-- An item whose answer is needed until some time is in the set `expiring` until then; a question is in `questions`
-- instead, until it has an answer.
function places.enter_expiring(first)
  redis.call('ZADD', first.asked and keys.questions or keys.expiring, first.expires, first.member)
  queue.expect(first.expires + 0)
end

-- An item is needed again: until its time if that is still to come, else without end. The caller writes it.
function places.need_again(first)
  first.dies, first.ended = nil, nil
  if first.expires and first.expires + 0 <= queue.now then first.expires = nil end
  if first.expires then places.enter_expiring(first) end
end

-- An assignment whose end was undone is held again, perhaps after nobody needed the item any more: then it dies when it
-- comes back.
function places.hold_again(id)
  local first = items.read(id)
  if first.expires and not redis.call('ZSCORE', keys.expiring, id) then places.enter_expiring(first) end
  if first.ended then
    first.dies = ''
    items.write(first)
  end
end

-- A question has an answer. With the first, it is no longer open, and how long that took is kept, of the latest 100; if
-- more people are to answer, they may until its time.
function places.answer_question(first)
  if redis.call('ZREM', keys.questions, first.member) == 1 then
    local place = redis.call('HINCRBY', keys.answer_times, 'count', 1) % 100
    redis.call('HSET', keys.answer_times, place, stamp(queue.now - tonumber(first.enqueued, 16) * 1000))
    if items.assignments(first.member)[2] then redis.call('ZADD', keys.expiring, first.expires, first.member) end
  end
  TELL_ASKER(first.member)
end

-- Closes what an item no longer needs, except for what is held: of several, the last. Each has a time of its own,
-- so that those that keep_finished_count keeps can be told apart.
function places.close_surplus(id)
  local members, was_dead, is_open = items.assignments(id), false, false
  for i = #members, 1, -1 do
    local item = items.read(members[i])
    local state, _, key = places.find(item)
    local is_closed = state ~= 'reserved' and state ~= 'finished' and surplus.is_one(item) and surplus.close(item)
    if is_closed then
      redis.call('ZREM', key, item.member)
      queue.tick()
    end
    was_dead = was_dead or is_closed and state == 'dead'
    is_open = is_open or not is_closed and state ~= 'finished'
  end
  if was_dead and is_open then places.enter_due(id) end
end
