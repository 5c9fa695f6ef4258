--- @include queue
--[[ The relation of people to an item, in the hash `relations`, by the item's id.

relations = TAB *(sign person TAB)
sign = "=" they answered it, in addition to what they did before: that counts again if the answer no longer does
     | "-" they may not have it again | "~" they gave it back for later: they get it when nothing else waits for
       them | "@" it was assigned to them, in addition to any of the others ]]
--- @constant NEW_ASSIGNMENT(person) '\t@' .. person .. '\t'
local relations = {}

local function cut(text, first, last) return string.sub(text, 1, first) .. string.sub(text, last + 1) end

function relations.read(id) return redis.call('HGET', keys.relations, id) or '\t' end

-- The sign of a person that counts, except @, and its position; nil without one.
function relations.sign_of(text, person)
  for _, sign in ipairs({ '=', '-', '~' }) do
    local first, last = string.find(text, '\t' .. sign .. person .. '\t', 1, true)
    if first then return sign, first, last end
  end
end

-- Replaces a person's sign by this one, or removes it if nil; that of an answer stays, and is added. Returns the
-- new text, and the sign before.
function relations.set(id, person, sign)
  local text = relations.read(id)
  local old_sign, first, last = relations.sign_of(text, person)
  if old_sign == '=' then return text end
  if old_sign and sign ~= '=' then text = cut(text, first, last) end
  if sign then text = text .. sign .. person .. '\t' end
  redis.call('HSET', keys.relations, id, text)
  return text, old_sign
end

-- Removes the sign of a person's answer. Returns whether there was one.
function relations.remove_answer(id, person)
  local text = relations.read(id)
  local sign, first, last = relations.sign_of(text, person)
  if sign ~= '=' then return false end
  redis.call('HSET', keys.relations, id, cut(text, first, last))
  return true
end

function relations.is_assigned(text, person) return string.find(text, '\t@' .. person .. '\t', 1, true) ~= nil end

function relations.assign(id, person)
  local text = relations.read(id)
  if not relations.is_assigned(text, person) then redis.call('HSET', keys.relations, id, text .. '@' .. person .. '\t') end
end

-- Takes back that it was assigned to a person.
function relations.unassign(id, person)
  local text = relations.read(id)
  local first, last = string.find(text, '\t@' .. person .. '\t', 1, true)
  if not first then return end
  text = cut(text, first, last)
  if text ~= '\t' then
    redis.call('HSET', keys.relations, id, text)
  else
    redis.call('HDEL', keys.relations, id)
  end
end

-- Replaces a person's name; nothing is assigned to the new name. Returns whether the person had a sign.
function relations.rename(id, person, to)
  local text, new_text, is_named = relations.read(id), '\t', false
  for sign, name in string.gmatch(text, '([=~@-])([^\t]+)') do
    is_named = is_named or name == person
    if name ~= person then
      new_text = new_text .. sign .. name .. '\t'
    elseif sign ~= '@' then
      new_text = new_text .. sign .. to .. '\t'
    end
  end
  if is_named and new_text ~= '\t' then
    redis.call('HSET', keys.relations, id, new_text)
  elseif is_named then
    redis.call('HDEL', keys.relations, id)
  end
  return is_named
end

-- How many people gave the item back, without those who answered it.
function relations.abandons(text)
  local count = 0
  for person in string.gmatch(text, '\t[~-]([^\t]+)') do
    if relations.sign_of(text, person) ~= '=' then count = count + 1 end
  end
  return count
end

function relations.later_people(text) return string.gmatch(text, '\t~([^\t]+)') end

-- Forgets who gave the item back: everybody may have it again, except those who answered it.
function relations.drop_abandons(id)
  local text = '\t'
  for entry in string.gmatch(relations.read(id), '\t([=@][^\t]+)') do text = text .. entry .. '\t' end
  if text ~= '\t' then
    redis.call('HSET', keys.relations, id, text)
  else
    redis.call('HDEL', keys.relations, id)
  end
end
