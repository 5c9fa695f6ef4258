--- @include places
--- @include bars
--[[ What a person passed over. How far they looked on each shelf is in the hash `cursors`, by the person's name:

cursors = *(row ":" shelf TAB score LF) ["idle" TAB time LF]

score  of the entry that they looked at last
idle   clear looked at these first at this time: they are forgotten 90 days later

What they may have again, where nothing else waits for them, is in a sorted set for each row and person. ]]
local cursors = {}

function cursors.parse(text)
  if text == '' then return {} end
  local found = { idle = string.match('\n' .. text, '\nidle\t(%d+)\n') }
  for path, score in string.gmatch(text, '([^\n]*:[^\n]*)\t(%d+)\n') do found[#found + 1] = { path, score } end
  return found
end

function cursors.format(list)
  local text = ''
  for _, cursor in ipairs(list) do text = text .. cursor[1] .. '\t' .. cursor[2] .. '\n' end
  return text .. (list.idle and 'idle\t' .. list.idle .. '\n' or '')
end

function cursors.read(person) return cursors.parse(redis.call('HGET', keys.cursors, person) or '') end

function cursors.write(person, list) redis.call('HSET', keys.cursors, person, cursors.format(list)) end

-- The cursor of a shelf, by row, a colon and the shelf's name.
function cursors.find(list, path)
  for _, cursor in ipairs(list) do
    if cursor[1] == path then return cursor end
  end
end

function cursors.later_key(row, person) return keys.later .. ':' .. row .. ':' .. person end

-- The shelf on which an assignment that a person passed over waits for them still, or nil.
function cursors.waits_on(member, row, person)
  local item = items.read(member)
  if not item or shelves.row(item) ~= row then return nil end
  local sign = bars.sign_of(bars.read(items.id(member)), person)
  if sign == '=' or sign == '-' then return nil end
  return redis.call('ZSCORE', shelves.key_of(item), member) and (item.shelf or 'normal') or nil
end

-- A person gave an assignment back for later. Their cursors name its shelf then, so that clear finds the sorted set
-- when they are gone (see tidy).
function cursors.put_off(item, person)
  local row, list = shelves.row(item), cursors.read(person)
  local path = row .. ':' .. (item.shelf or 'normal')
  redis.call('ZADD', cursors.later_key(row, person), queue.now, item.member)
  if not cursors.find(list, path) then
    passed.begin()
    list.idle, list[#list + 1] = nil, { path, '0' }
    cursors.write(person, list)
  end
end
