--- @include cursors
--- @include holdings
--[[ Deletes what is left of people who are gone, and of what they passed over: a walk does one bounded step
in each call of clear; the next walk begins a day after the last one ends. The ledger's field `tidy` has:

tidy = next " " walk " " from " " done

next  when the next step is due
walk  people: through the ledger's fields `p:…`; cursors: through the hash of this name
from  where the step begins: HSCAN's cursor
done  how many entries of that step were processed before

A walk during which the server is restarted may miss some entries: the next one finds them. ]]
local tidy = {}
local DAY = 86400000000
local PEOPLE_RETENTION, CURSOR_RETENTION = 7 * DAY, 90 * DAY
local FIELDS = 50 -- in one step through the ledger, which has the answers, too
local PERSONS, COMMANDS, WINDOW = 10, 300, 50 -- in one step through `cursors`; WINDOW: in one sorted set

function tidy.parse(text)
  local next_time, walk, from, done = string.match(text, '^(%d+) (%l+) (%d+) (%d+)$')
  return { next_time = next_time + 0, walk = walk, from = from, done = done + 0 }
end

function tidy.format(state)
  return string.format('%d %s %s %d', state.next_time, state.walk, state.from, state.done)
end

-- If a person holds nothing, their last request id is useless: it is replaced by the time at which this was
-- found.
local function tidy_people(from)
  local step = redis.call('HSCAN', keys.ledger, from, 'MATCH', 'p:*', 'COUNT', FIELDS)
  for i = 1, #step[2], 2 do
    local field, held_leases = step[2][i], holdings.parse(step[2][i + 1])
    if held_leases.idle and not held_leases.is_stopped and queue.now - held_leases.idle >= PEOPLE_RETENTION then
      redis.call('HDEL', keys.ledger, field)
    elseif not held_leases.idle and not held_leases[1] then
      held_leases.request, held_leases.idle = '', stamp(queue.now)
      redis.call('HSET', keys.ledger, field, holdings.format(held_leases))
    end
  end
  return step[1]
end

-- Removes from a person's sorted set what no longer waits for them, or all of it: it scans at most WINDOW
-- items, in a larger set from a varying position. Returns how many are left, how many were scanned, and
-- whether many more must go.
local function tidy_later(row, person, drop_all)
  local key, stale_members = cursors.later_key(row, person), {}
  local size = redis.call('ZCARD', key)
  local from = size > WINDOW and queue.now % (size - WINDOW + 1) or 0
  local members = redis.call('ZRANGE', key, from, from + WINDOW - 1)
  for _, member in ipairs(members) do
    if drop_all or not cursors.find_shelf(member, row, person) then stale_members[#stale_members + 1] = member end
  end
  if stale_members[1] then redis.call('ZREM', key, unpack(stale_members)) end
  return size - #stale_members, #members, size > WINDOW and #stale_members > WINDOW / 2
end

-- A person's cursor on a shelf is needed while an entry before it waits there, or items that they put off. A
-- person who is away for CURSOR_RETENTION loses all cursors, and looks at everything again. Returns about how
-- many commands it took, whether many more of their items must be removed, and whether anything is kept.
local function tidy_person_cursors(person, text)
  local scores, idle = cursors.parse(text)
  local is_away = idle and queue.now - idle >= CURSOR_RETENTION
  local counts, kept_scores, cost, has_more = {}, {}, 1, false
  for path, score in pairs(scores) do
    local row, shelf = shelves.parse_path(path)
    if not counts[row] then
      local scan_count, is_unfinished
      counts[row], scan_count, is_unfinished = tidy_later(row, person, is_away)
      cost, has_more = cost + 2 + scan_count * 3, has_more or is_unfinished
    end
    local first_score = not is_away and redis.call('ZRANGE', shelves.key(row, shelf), 0, 0, 'WITHSCORES')[2]
    cost = cost + 1
    if counts[row] > 0 or (first_score and first_score + 0 <= score + 0) then kept_scores[path] = score end
  end
  if next(kept_scores) then
    cursors.write(person, kept_scores, idle or stamp(queue.now))
  else
    redis.call('HDEL', keys.cursors, person)
  end
  return cost, has_more, next(kept_scores) ~= nil
end

-- Returns where the next step begins, how many of its entries to skip, and whether there is a next step.
local function tidy_cursors(from, done)
  local step, remaining = redis.call('HSCAN', keys.cursors, from, 'COUNT', PERSONS), COMMANDS
  for i = 1 + 2 * done, #step[2], 2 do
    if remaining <= 0 then return from, done, true end
    local cost, has_more, is_kept = tidy_person_cursors(step[2][i], step[2][i + 1])
    if has_more then return from, done, true end
    remaining, done = remaining - cost, done + (is_kept and 1 or 0)
  end
  return step[1], 0, step[1] ~= '0'
end

-- The state in which a day passes before the first walk.
function tidy.start() return tidy.format({ next_time = queue.now + DAY, walk = 'people', from = '0', done = 0 }) end

-- Does the step that is due, and stores what the next one is.
function tidy.run(state)
  local has_more = true
  if state.walk == 'people' then
    state.from = tidy_people(state.from)
    if state.from == '0' then state.walk = 'cursors' end
  else
    state.from, state.done, has_more = tidy_cursors(state.from, state.done)
  end
  state.next_time = queue.now
  if not has_more then
    shelves.drop_empty_rows({})
    if redis.call('EXISTS', keys.cursors) == 0 then redis.call('EXPIRE', keys.passed, 0) end -- deletes it
    state.walk, state.next_time = 'people', queue.now + DAY
  end
  redis.call('HSET', keys.ledger, 'tidy', tidy.format(state))
end
