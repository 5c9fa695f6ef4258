--- @include queue
--[[ How far anybody looked on each shelf, in the hash `passed`. An entry that is put among others goes behind that: the
cursors of people who passed over what is there would hide it from them (see cursors).

passed = path -> score

path   row ":" shelf; "*" counts for every shelf
score  nobody's cursor there is behind the entry that has it

It is there as long as anybody has a cursor. ]]
local passed = {}
local SHELVES = 1000 -- that have a score of their own
local NEAR = 300 -- entries that are looked at for a free score; an enqueue adds fewer one microsecond apart

-- Somebody is about to get a cursor. Those that are there without the hash were written by an earlier version.
function passed.begin()
  if redis.call('EXISTS', keys.passed) == 1 then return end
  redis.call('HSET', keys.passed, '*', redis.call('EXISTS', keys.cursors) == 1 and stamp(queue.now) or 0)
end

-- There are at most so many fields that one call can name them.
local function clear()
  local names, all = {}, redis.call('HGETALL', keys.passed)
  for i = 1, #all, 2 do names[#names + 1] = all[i] end
  if names[1] then redis.call('HDEL', keys.passed, unpack(names)) end
end

-- Where nobody has a cursor.
function passed.forget()
  if redis.call('EXISTS', keys.cursors) == 0 then clear() end
end

-- Somebody's cursors moved: a score by path.
function passed.note(moved)
  passed.begin()
  local paths = {}
  for path in pairs(moved) do paths[#paths + 1] = path end
  for i, score in ipairs(redis.call('HMGET', keys.passed, unpack(paths))) do
    local path = paths[i]
    if not score or score + 0 < moved[path] + 0 then redis.call('HSET', keys.passed, path, moved[path]) end
  end
  if redis.call('HLEN', keys.passed) > SHELVES then
    clear()
    redis.call('HSET', keys.passed, '*', stamp(queue.now))
  end
end

-- The score for an entry that waits since a time: that time, or else the first free one behind what anybody passed over.
-- Nil where the next NEAR are taken.
function passed.free_score(path, key, since)
  passed.begin()
  local anywhere, here = unpack(redis.call('HMGET', keys.passed, '*', path))
  local score = math.max(since, anywhere + 1, (here or 0) + 1)
  local entries = redis.call('ZRANGEBYSCORE', key, stamp(score), '+inf', 'WITHSCORES', 'LIMIT', 0, NEAR)
  for i = 2, #entries, 2 do
    if entries[i] + 0 ~= score then return score end
    score = score + 1
  end
  return #entries ~= 2 * NEAR and score or nil
end
