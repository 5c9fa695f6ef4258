--- @include forget
--- @include journal_groups
--[[ Forgets items that were finished longer ago than the policy's keep_finished_seconds, finished ones beyond the latest
keep_finished_count, and those that have been dead for longer than keep_dead_seconds. In the ledger's field `forget`:

forget = next " " [dead " " full " "] finished

next      before this time no entry is old enough
dead      the score up to which the set `dead` was looked through
full      once `finished` of the status is as high, there may be more than keep_finished_count
finished  the score up to which the set `finished` was looked through

Each entry is looked at once: an item with several assignments is forgotten at the entry of the last one that gets old,
each by the rule of its set. What a consumer group of the journal has not read yet stays, a late answer included. ]]
local retain = {}
local MEMBERS = 60 -- assignments and people who gave one back for later, in one call
local AT_NO_TIME = 9007199254740991 -- 2^53 - 1

function retain.is_time(state)
  if not state then return false end
  local full = string.match(state, '^%d+ %d+ (%d+) %d+$') or AT_NO_TIME
  return queue.now >= string.match(state, '^%d+') + 0 or queue.finished >= full + 0
end

local function is_unread(id, read)
  if read == math.huge then return false end
  for _, block in ipairs(blocks.read(keys.late, id)) do
    if string.match(block, '\t(%d+)\n') + 0 > read then return true end
  end
  return false
end

-- The time up to which the entries of each set are old; -math.huge where none is.
local function times_of(rules)
  local old = { finished = -math.huge, dead = -math.huge }
  if rules.keep_finished_seconds then old.finished = queue.now - rules.keep_finished_seconds * 1000000 end
  if rules.keep_dead_seconds then old.dead = queue.now - rules.keep_dead_seconds * 1000000 end
  local over = rules.keep_finished_count and redis.call('ZCARD', keys.finished) - rules.keep_finished_count or 0
  if over > 0 then
    old.finished = math.max(old.finished, redis.call('ZRANGE', keys.finished, over - 1, over - 1, 'WITHSCORES')[2])
  end
  return old
end

local function are_old(members, old)
  for _, member in ipairs(members) do
    local score, time = redis.call('ZSCORE', keys.finished, member), old.finished
    if not score then score, time = redis.call('ZSCORE', keys.dead, member), old.dead end
    if not score or score + 0 > time then return false end
  end
  return true
end

local function behind(set, score, to, count)
  return redis.call('ZRANGEBYSCORE', keys[set], '(' .. score, to, 'WITHSCORES', 'LIMIT', 0, count)
end

-- Looks through a set from a score on. `step`: how many may be forgotten, and how many assignments were looked at. Gives
-- where it ended, and whether it waits for a consumer group.
local function look_through(set, from, old, read, step)
  -- equivalent mutant: compare: no entry has the score 0
  local entries = old[set] > 0 and behind(set, from, stamp(old[set]), MEMBERS) or {}
  for i = 1, #entries, 2 do
    local id = items.id(entries[i])
    local members = items.assignments(id)
    -- equivalent mutant: compare: the next call goes on where this one ends
    if step.looked >= MEMBERS then return from, false end
    if is_unread(id, read) then return from, true end
    step.looked = step.looked + #members
    if are_old(members, old) then
      if step.left == 0 then return from, false end
      for _ in bars.later_people(bars.read(id)) do step.looked = step.looked + 1 end
      forget(id)
      journal.note('forgotten', id, '', '')
      step.left = step.left - 1
    end
    from = entries[i + 1]
  end
  return from, false
end

-- When the first entry behind a score is old by its age, and whether one is now.
local function next_of(set, from, keep, old)
  local score = behind(set, from, '+inf', 1)[2]
  -- equivalent mutant: limit:1: a time that is over says as much as the present one
  local time = keep and (score and math.max(score + keep * 1000000, queue.now) or queue.now + keep * 1000000) or AT_NO_TIME
  return time, score ~= nil and score + 0 <= old[set]
end

-- Gives how many were forgotten, at most `limit`, and whether there are more.
function retain.run(state, limit)
  local rules, read, step = queue.rules, read_by_all(), { left = limit, looked = 0 }
  local old = times_of(rules)
  local is_behind = old.finished > read
  old.finished, old.dead = math.min(old.finished, read), math.min(old.dead, read)
  local finished, finished_waits = look_through('finished', string.match(state, '%d+$'), old, read, step)
  local dead, dead_waits = look_through('dead', string.match(state, '^%d+ (%d+) %d+ %d+$') or '0', old, read, step)
  local forgotten = limit - step.left
  if forgotten > 0 then redis.call('HINCRBY', keys.ledger, 'n:forgotten', forgotten) end

  local finished_next, more_finished = next_of('finished', finished, rules.keep_finished_seconds, old)
  local dead_next, more_dead = next_of('dead', dead, rules.keep_dead_seconds, old)
  local words = stamp(math.min(finished_next, dead_next)) .. ' '
  if rules.keep_finished_count or rules.keep_dead_seconds then
    local full = AT_NO_TIME
    if rules.keep_finished_count then
      -- equivalent mutant: limit: it only looks sooner than it has to
      local room = math.max(rules.keep_finished_count - redis.call('ZCARD', keys.finished), 0)
      full = queue.finished + ((more_finished or is_behind) and 0 or room + 1)
    end
    words = words .. dead .. ' ' .. stamp(full) .. ' '
  end
  redis.call('HSET', keys.ledger, 'forget', words .. finished)
  return forgotten, more_finished and not finished_waits or more_dead and not dead_waits
end
