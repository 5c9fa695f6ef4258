--- @include places
--- @include relations
--[[ What a person passed over. How far they looked on each shelf is in the hash `cursors`, by the person's name:

cursors = *(row ":" shelf TAB score LF) ["idle" TAB time LF]

score  the score of the entry that they looked at last
idle   when clear first found the cursors in this state: 90 days later they are deleted

Items that they may have again when nothing else waits for them are in a sorted set for each row and person.

How far anybody looked on each shelf is in the hash `passed`, while anybody has a cursor. An entry that is
inserted among others goes after that score: a cursor past its place would hide it from that person.

passed = path -> score

path   row ":" shelf; "*" counts for every shelf, once there were too many
score  no cursor on the shelf is beyond it ]]
local cursors = {}

-- The scores by path, and the time since when the cursors are idle.
function cursors.parse(text)
  local scores = {}
  for path, score in string.gmatch(text, '([^\n]*:[^\n]*)\t(%d+)\n') do scores[path] = score end
  return scores, string.match('\n' .. text, '\nidle\t(%d+)\n')
end

function cursors.format(scores, idle)
  local text = ''
  for path, score in pairs(scores) do text = text .. path .. '\t' .. score .. '\n' end
  return text .. (idle and 'idle\t' .. idle .. '\n' or '')
end

function cursors.read(person) return cursors.parse(redis.call('HGET', keys.cursors, person) or '') end

function cursors.write(person, scores, idle) redis.call('HSET', keys.cursors, person, cursors.format(scores, idle)) end

-- Moves a person's cursors. `moved_scores`: those that changed; `passed` is written first, so that it is never behind.
function cursors.move(person, scores, moved_scores)
  local has_new = false
  for path, score in pairs(moved_scores) do
    local highest_score = redis.call('HGET', keys.passed, path)
    has_new = has_new or not highest_score
    if not highest_score or highest_score + 0 < score + 0 then redis.call('HSET', keys.passed, path, score) end
  end
  if has_new and redis.call('HLEN', keys.passed) > 1000 then
    redis.call('EXPIRE', keys.passed, 0) -- deletes it, without the right to DEL
    redis.call('HSET', keys.passed, '*', stamp(queue.now))
  end
  cursors.write(person, scores)
end

-- The score that no cursor on a shelf is beyond.
function cursors.passed_score(path)
  local queue_score, shelf_score = unpack(redis.call('HMGET', keys.passed, '*', path))
  return math.max(queue_score or 0, shelf_score or 0)
end

-- Forgets how far anybody looked on the shelves of a row that is gone.
function cursors.drop_passed(row)
  local fields = redis.call('HGETALL', keys.passed)
  for i = 1, #fields, 2 do
    if fields[i] ~= '*' and shelves.parse_path(fields[i]) == row then redis.call('HDEL', keys.passed, fields[i]) end
  end
end

function cursors.later_key(row, person) return keys.later .. ':' .. row .. ':' .. person end

-- The shelf on which an assignment that a person passed over still waits for them, or nil.
function cursors.find_shelf(member, row, person)
  local item = items.read(member)
  if not item or shelves.row(item) ~= row then return nil end
  local sign = relations.sign_of(relations.read(items.id(member)), person)
  if sign == '=' or sign == '-' then return nil end
  return redis.call('ZSCORE', shelves.key_of(item), member) and (item.shelf or 'normal') or nil
end
