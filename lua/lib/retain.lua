--- @include forget
--- @include journal_groups
--[[ Forgets items that were finished longer ago than the policy's keep_finished_seconds. In the ledger's field `forget`:

forget = next " " score

next   before this time none is old enough
score  up to here the set `finished` was looked through

Each entry is looked at once: an item with several answers goes when the last one is old, and is met then. Nothing goes
that a consumer group of the journal has not read, be it a late answer. ]]
local retain = {}
local MEMBERS = 60 -- assignments and people who gave one back for later, in one call

function retain.is_time(state) return state and queue.now >= string.match(state, '^%d+') + 0 end

local function is_unread(id, read)
  if read == math.huge then return false end
  for _, block in ipairs(blocks.read(keys.late, id)) do
    if string.match(block, '\t(%d+)\n') + 0 > read then return true end
  end
  return false
end

local function all_older(members, last)
  for _, member in ipairs(members) do
    local score = redis.call('ZSCORE', keys.finished, member)
    if not score or score + 0 > last then return false end
  end
  return true
end

local function behind(score, to, count)
  return redis.call('ZRANGEBYSCORE', keys.finished, '(' .. score, to, 'WITHSCORES', 'LIMIT', 0, count)
end

-- Gives how many were forgotten, at most `limit`, and whether there are more.
function retain.run(state, limit)
  local keep, read = queue.rules.keep_finished_seconds * 1000000, read_by_all()
  local from, last = string.match(state, '%d+$'), math.min(queue.now - keep, read)
  local forgotten, looked, waits = 0, 0, false
  local entries = behind(from, stamp(last), MEMBERS)
  for i = 1, #entries, 2 do
    local id = items.id(entries[i])
    local members = items.assignments(id)
    waits = is_unread(id, read)
    -- equivalent mutant: compare: the next call goes on where this one ends
    if waits or looked >= MEMBERS then break end
    looked = looked + #members
    if all_older(members, last) then
      if forgotten == limit then break end
      for _ in bars.later_people(bars.read(id)) do looked = looked + 1 end
      forget(id)
      journal.note('forgotten', id, '', '')
      forgotten = forgotten + 1
    end
    from = entries[i + 1]
  end
  if forgotten > 0 then redis.call('HINCRBY', keys.ledger, 'n:forgotten', forgotten) end
  local next_score = behind(from, '+inf', 1)[2]
  -- equivalent mutant: limit:1: a time that is over says as much as the present one
  local next_time = next_score and math.max(next_score + keep, queue.now) or queue.now + keep
  redis.call('HSET', keys.ledger, 'forget', stamp(next_time) .. ' ' .. from)
  return forgotten, next_score ~= nil and next_score + 0 <= last and not waits
end
