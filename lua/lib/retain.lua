--- @include forget
--- @include journal_groups
--[[ Deletes items that were finished longer ago than the policy's keep_finished_seconds, finished items
beyond the latest keep_finished_count, and items that died longer ago than keep_dead_seconds. The ledger's
field `forget` has:

forget = next " " [dead " " full " "] finished

next      before this time no entry is old enough
dead      the score up to which the set `dead` was scanned
full      when `finished` in the status reaches this, there may be more than keep_finished_count
finished  the score up to which the set `finished` was scanned

Each entry is scanned once: an item with several assignments is deleted at the entry of the last one that
becomes old enough, each by the rule of its set. An item is kept until every consumer group of the journal
has read what happened to it, including its late answers. ]]
local retain = {}
local MEMBERS = 60 -- in one call: assignments, and people who gave one back for later
local AT_NO_TIME = 9007199254740991 -- 2^53 - 1

function retain.is_time(state)
  if not state then return false end
  local full = string.match(state, '^%d+ %d+ (%d+) %d+$') or AT_NO_TIME
  return queue.now >= string.match(state, '^%d+') + 0 or queue.finished >= full + 0
end

local function is_unread(id, position)
  if position == math.huge then return false end
  for _, block in ipairs(blocks.read(keys.late, id)) do
    if string.match(block, '\t(%d+)\n') + 0 > position then return true end
  end
  return false
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
local function look_through(set, from, cutoffs, position, step)
  local entries = cutoffs[set] > 0 and entries_after(set, from, stamp(cutoffs[set]), MEMBERS) or {}
  for i = 1, #entries, 2 do
    local id = items.id(entries[i])
    local members = items.assignments(id)
    if step.scan_count >= MEMBERS then return from, false end
    if is_unread(id, position) then return from, true end
    step.scan_count = step.scan_count + #members
    if are_old(members, cutoffs) then
      if step.remaining == 0 then return from, false end
      for _ in bars.later_people(bars.read(id)) do step.scan_count = step.scan_count + 1 end
      forget(id)
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
  local time = keep and (score or queue.now) + keep * 1000000 or AT_NO_TIME
  return time, score ~= nil and score + 0 <= cutoffs[set]
end

-- Returns how many items were deleted, at most `limit`, and whether there are more.
function retain.run(state, limit)
  local rules, position, step = queue.rules, lowest_position(), { remaining = limit, scan_count = 0 }
  local cutoffs = find_cutoffs(rules)
  local finished_cutoff = cutoffs.finished
  cutoffs.finished, cutoffs.dead = math.min(cutoffs.finished, position), math.min(cutoffs.dead, position)
  local is_behind = cutoffs.finished ~= finished_cutoff
  local finished_score, finished_is_unread = look_through('finished', string.match(state, '%d+$'), cutoffs, position, step)
  local dead_score, dead_is_unread =
    look_through('dead', string.match(state, '^%d+ (%d+) %d+ %d+$') or '0', cutoffs, position, step)
  local forget_count = limit - step.remaining
  if forget_count > 0 then redis.call('HINCRBY', keys.ledger, 'n:forgotten', forget_count) end

  local finished_time, has_more_finished = next_time('finished', finished_score, rules.keep_finished_seconds, cutoffs)
  local dead_time, has_more_dead = next_time('dead', dead_score, rules.keep_dead_seconds, cutoffs)
  local words = stamp(math.min(finished_time, dead_time)) .. ' '
  if rules.keep_finished_count or rules.keep_dead_seconds then
    local full = AT_NO_TIME
    if rules.keep_finished_count then
      local free_count = math.max(rules.keep_finished_count - redis.call('ZCARD', keys.finished), 0)
      full = queue.finished + ((has_more_finished or is_behind) and 0 or free_count + 1)
    end
    words = words .. dead_score .. ' ' .. stamp(full) .. ' '
  end
  redis.call('HSET', keys.ledger, 'forget', words .. finished_score)
  return forget_count, has_more_finished and not finished_is_unread or has_more_dead and not dead_is_unread
end
