--- @include places
--- @include bars
--[[ What a person passed over. How far they looked on each shelf is in the hash `cursors`, by the person's name:

cursors = *(row ":" shelf TAB score LF) ["idle" TAB time LF]

score  the score of the entry that they looked at last
idle   when clear first found the cursors in this state: 90 days later they are deleted

Items that they may have again when nothing else waits for them are in a sorted set for each row and person.

How far anybody looked on each shelf is in the hash `passed`, while anybody has a cursor. An entry that is
inserted among others goes after that score: a cursor past its place would hide it from that person.

passed = path -> score

path   row ":" shelf; "*" counts for every shelf
score  no cursor on the shelf is beyond it ]]
local cursors = {}

function cursors.parse(text)
  if text == '' then return {} end
  local list = { idle = string.match('\n' .. text, '\nidle\t(%d+)\n') }
  for path, score in string.gmatch(text, '([^\n]*:[^\n]*)\t(%d+)\n') do list[#list + 1] = { path, score } end
  return list
end

function cursors.format(list)
  local text = ''
  for _, cursor in ipairs(list) do text = text .. cursor[1] .. '\t' .. cursor[2] .. '\n' end
  return text .. (list.idle and 'idle\t' .. list.idle .. '\n' or '')
end

function cursors.read(person) return cursors.parse(redis.call('HGET', keys.cursors, person) or '') end

-- `moved_scores`: the score of each cursor that moved, by path; nil if none moved and none is new. They are
-- written to `passed` first, so that it is never behind. Cursors without `passed` were written by an earlier
-- version.
function cursors.write(person, list, moved_scores)
  if moved_scores then
    local paths, updates, has_new = { '*' }, {}, false
    for path in pairs(moved_scores) do paths[#paths + 1] = path end
    local old_scores = redis.call('HMGET', keys.passed, unpack(paths))
    if not old_scores[1] then updates = { '*', redis.call('EXISTS', keys.cursors) == 1 and stamp(queue.now) or 0 } end
    for i = 2, #paths do
      local path, score, old_score = paths[i], moved_scores[paths[i]], old_scores[i]
      has_new = has_new or not old_score
      if not old_score or old_score + 0 < score + 0 then updates[#updates + 1], updates[#updates + 2] = path, score end
    end
    if updates[1] then redis.call('HSET', keys.passed, unpack(updates)) end
    if has_new and redis.call('HLEN', keys.passed) > 1000 then
      redis.call('EXPIRE', keys.passed, 0) -- deletes it, without the right to DEL
      redis.call('HSET', keys.passed, '*', stamp(queue.now))
    end
  end
  redis.call('HSET', keys.cursors, person, cursors.format(list))
end

-- The cursor of a shelf, by row, a colon and the shelf's name.
function cursors.find(list, path)
  for _, cursor in ipairs(list) do
    if cursor[1] == path then return cursor end
  end
end

function cursors.later_key(row, person) return keys.later .. ':' .. row .. ':' .. person end

-- The shelf on which an assignment that a person passed over still waits for them, or nil.
function cursors.find_shelf(member, row, person)
  local item = items.read(member)
  if not item or shelves.row(item) ~= row then return nil end
  local sign = bars.sign_of(bars.read(items.id(member)), person)
  if sign == '=' or sign == '-' then return nil end
  return redis.call('ZSCORE', shelves.key_of(item), member) and (item.shelf or 'normal') or nil
end
