--- @include queue
--[[ The relation of people to an item, in the hash `bars`, by the item's id.

bars = TAB *(sign person TAB)
sign = "=" they answered it | "-" they may not have it again | "~" they gave it back for later: they get it when
       nothing else waits for them | "@" it was assigned to them, in addition to any of the others ]]
local bars = {}

local function cut(text, first, last) return string.sub(text, 1, first) .. string.sub(text, last + 1) end

function bars.read(id) return redis.call('HGET', keys.bars, id) or '\t' end

-- The sign of a person, except @, and its position; nil without one.
function bars.sign_of(text, person)
  for _, sign in ipairs({ '=', '-', '~' }) do
    local first, last = string.find(text, '\t' .. sign .. person .. '\t', 1, true)
    if first then return sign, first, last end
  end
end

-- Replaces a person's sign by this one, or removes it if nil. The sign of an answer stays, unless
-- `is_undone`. Returns the new text, and the sign that was replaced.
function bars.set(id, person, sign, is_undone)
  local text = bars.read(id)
  local old_sign, first, last = bars.sign_of(text, person)
  if old_sign == '=' and not is_undone then return text end
  if old_sign then text = cut(text, first, last) end
  if sign then text = text .. sign .. person .. '\t' end
  redis.call('HSET', keys.bars, id, text)
  return text, old_sign
end

function bars.is_assigned(text, person) return string.find(text, '\t@' .. person .. '\t', 1, true) ~= nil end

function bars.assign(id, person)
  local text = bars.read(id)
  if not bars.is_assigned(text, person) then redis.call('HSET', keys.bars, id, text .. '@' .. person .. '\t') end
end

-- Takes back that it was assigned to a person.
function bars.unassign(id, person)
  local text = bars.read(id)
  local first, last = string.find(text, '\t@' .. person .. '\t', 1, true)
  if not first then return end
  text = cut(text, first, last)
  if text ~= '\t' then
    redis.call('HSET', keys.bars, id, text)
  else
    redis.call('HDEL', keys.bars, id)
  end
end

-- Replaces a person's name; nothing is assigned to the new name. Returns whether the person had a sign.
function bars.rename(id, person, to)
  local text, new_text, is_named = bars.read(id), '\t', false
  for sign, name in string.gmatch(text, '([=~@-])([^\t]+)') do
    is_named = is_named or name == person
    if name ~= person then
      new_text = new_text .. sign .. name .. '\t'
    elseif sign ~= '@' then
      new_text = new_text .. sign .. to .. '\t'
    end
  end
  if is_named and new_text ~= '\t' then
    redis.call('HSET', keys.bars, id, new_text)
  elseif is_named then
    redis.call('HDEL', keys.bars, id)
  end
  return is_named
end

-- How many people gave the item back.
function bars.abandons(text) return select(2, string.gsub(text, '\t[~-]', '')) end

function bars.later_people(text) return string.gmatch(text, '\t~([^\t]+)') end

-- Lets everybody have the item again, except those who answered it.
function bars.lift(id)
  local text = '\t'
  for entry in string.gmatch(bars.read(id), '\t([=@][^\t]+)') do text = text .. entry .. '\t' end
  if text ~= '\t' then
    redis.call('HSET', keys.bars, id, text)
  else
    redis.call('HDEL', keys.bars, id)
  end
end
