--- @include queue
--[[ The late answers of an item, in the hash `late`, by the item's id; an item without any has no field. The limit
keeps calls short.

late   = answer *(LF LF answer)
answer = token TAB person TAB arrived LF result

token    of the lease for which it was given
arrived  when it came, in microseconds
result   JSON ]]
local late_answers = { MAX_BYTES = 1048576 } -- of an item; one always fits

function late_answers.parse(text)
  local list = {}
  for token, person, arrived, result in string.gmatch(text, '(%d+)\t([^\t]*)\t(%d+)\n([^\n]*)') do
    list[#list + 1] = { token = token, person = person, arrived = arrived + 0, result = result }
  end
  return list
end

function late_answers.format(list)
  local texts = {}
  for i, answer in ipairs(list) do
    texts[i] = answer.token .. '\t' .. answer.person .. '\t' .. stamp(answer.arrived) .. '\n' .. answer.result
  end
  return table.concat(texts, '\n\n')
end

function late_answers.read(id) return late_answers.parse(redis.call('HGET', keys.late, id) or '') end

function late_answers.write(id, list)
  if list[1] then redis.call('HSET', keys.late, id, late_answers.format(list)) else redis.call('HDEL', keys.late, id) end
end

-- Removes the latest one with a token from a list, and returns it; nil if there is none.
function late_answers.take(list, token)
  for i = #list, 1, -1 do
    if list[i].token == token then return table.remove(list, i) end
  end
end

-- Whether one of them came at this time or later.
function late_answers.has_since(id, time)
  for _, answer in ipairs(late_answers.read(id)) do
    if answer.arrived >= time then return true end
  end
  return false
end

function late_answers.has_person(id, person)
  for _, answer in ipairs(late_answers.read(id)) do
    if answer.person == person then return true end
  end
  return false
end

-- Replaces a person's name. Returns whether it occurred.
function late_answers.rename(id, person, to)
  local list, is_named = late_answers.read(id), false
  for _, answer in ipairs(list) do
    if answer.person == person then answer.person, is_named = to, true end
  end
  if is_named then late_answers.write(id, list) end
  return is_named
end
