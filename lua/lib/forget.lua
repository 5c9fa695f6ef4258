--- @include leases
--- @include cursors
--- @include late_answers
--- @include retention
--- @include forms
-- Deleting items: one, and those that were finished longer ago than the policy's keep_finished_seconds, finished
-- items beyond the latest keep_finished_count, and items that died longer ago than keep_dead_seconds.
--
-- Each entry is scanned once: an item with several assignments is deleted at the entry of the last one that
-- becomes old enough, each by the rule of its set. An item is kept until every consumer group of the journal
-- has read what happened to it, including its late answers.
local forget = {}
local MAX_SCANNED = 60 -- in one call: assignments, and people who gave one back for later

-- Deletes all that is stored about an item, and returns the tokens of the leases that this ended.
function forget.item(id)
  local tokens, first = {}, items.read(id)
  first.assignee = nil -- its row before it was assigned, where people put it off
  local row, relations_text, members = shelves.row(first), relations.read(id), items.assignments(id)
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
  redis.call('HDEL', keys.decisions, id)
  redis.call('ZREM', keys.due, id)
  if first.expires then redis.call('ZREM', keys.expiring, id) end
  if first.form then forms.drop(first.form) end
  if first.asked then TELL_ASKER(id) end
  for person in relations.later_people(relations_text) do
    redis.call('ZREM', cursors.later_key(row, person), unpack(members))
  end
  redis.call('HDEL', keys.relations, id)
  return tokens
end

-- Whether a late answer came after a position in the journal.
local function is_unread(id, position)
  return position ~= math.huge and late_answers.has_since(id, position + 1)
end

-- The time up to which the entries of each set are old enough; -math.huge if none is.
local function find_cutoffs(rules)
  local cutoffs = { finished = -math.huge, dead = -math.huge }
  if rules.keep_finished_seconds then cutoffs.finished = queue.now - rules.keep_finished_seconds * 1000000 end
  if rules.keep_dead_seconds then cutoffs.dead = queue.now - rules.keep_dead_seconds * 1000000 end
  local excess = rules.keep_finished_count and redis.call('ZCARD', keys.finished) - rules.keep_finished_count or 0
  if excess > 0 then
    cutoffs.finished = math.max(cutoffs.finished, redis.call('ZRANGE', keys.finished, excess - 1, excess - 1, 'WITHSCORES')[2])
  end
  return cutoffs
end

local function are_old(members, cutoffs)
  for _, member in ipairs(members) do
    local score, cutoff = redis.call('ZSCORE', keys.finished, member), cutoffs.finished
    if not score then score, cutoff = redis.call('ZSCORE', keys.dead, member), cutoffs.dead end
    if not score or score + 0 > cutoff then return false end
  end
  return true
end

local function entries_after(set, score, to, count)
  return redis.call('ZRANGEBYSCORE', keys[set], '(' .. score, to, 'WITHSCORES', 'LIMIT', 0, count)
end

-- Scans a set from a score on. `step`: how many more items may be deleted, and how many assignments were
-- scanned. Returns the score at which it ended, and whether it waits for a consumer group.
local function scan(set, from, cutoffs, position, step)
  local entries = cutoffs[set] > 0 and entries_after(set, from, stamp(cutoffs[set]), MAX_SCANNED) or {}
  for i = 1, #entries, 2 do
    local id = items.id(entries[i])
    local members = items.assignments(id)
    if step.scan_count >= MAX_SCANNED then return from, false end
    if is_unread(id, position) then return from, true end
    step.scan_count = step.scan_count + #members
    if are_old(members, cutoffs) then
      if step.remaining == 0 then return from, false end
      for _ in relations.later_people(relations.read(id)) do step.scan_count = step.scan_count + 1 end
      forget.item(id)
      journal.note('forgotten', id, '', '')
      step.remaining = step.remaining - 1
    end
    from = entries[i + 1]
  end
  return from, false
end

-- When the first entry after a score becomes old enough, and whether it is now.
local function next_time(set, from, keep, cutoffs)
  local score = entries_after(set, from, '+inf', 1)[2]
  local time = keep and (score or queue.now) + keep * 1000000 or NEVER
  return time, score ~= nil and score + 0 <= cutoffs[set]
end

-- Returns how many items were deleted, at most `limit`, and whether there are more.
function forget.run(state, limit)
  local rules, position, step = queue.rules, journal.lowest_position(), { remaining = limit, scan_count = 0 }
  local cutoffs = find_cutoffs(rules)
  local finished_cutoff = cutoffs.finished
  cutoffs.finished, cutoffs.dead = math.min(cutoffs.finished, position), math.min(cutoffs.dead, position)
  local is_behind, finished_is_unread, dead_is_unread = cutoffs.finished ~= finished_cutoff, nil, nil
  state.finished, finished_is_unread = scan('finished', state.finished, cutoffs, position, step)
  state.dead, dead_is_unread = scan('dead', state.dead, cutoffs, position, step)
  local forget_count = limit - step.remaining
  if forget_count > 0 then redis.call('HINCRBY', keys.ledger, 'n:forgotten', forget_count) end

  local finished_time, has_more_finished = next_time('finished', state.finished, rules.keep_finished_seconds, cutoffs)
  local dead_time, has_more_dead = next_time('dead', state.dead, rules.keep_dead_seconds, cutoffs)
  state.next_time = math.min(finished_time, dead_time)
  redis.call('HSET', keys.ledger, 'retention', retention.format(state))
  if rules.keep_finished_count then
    local free_count = math.max(rules.keep_finished_count - redis.call('ZCARD', keys.finished), 0)
    redis.call('HSET', keys.ledger, 'full', stamp(queue.finished + ((has_more_finished or is_behind) and 0 or free_count + 1)))
  end
  return forget_count, has_more_finished and not finished_is_unread or has_more_dead and not dead_is_unread
end
