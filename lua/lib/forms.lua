--- @include queue
--[[ Forms of items' own, in the hash `forms`. Each is kept once, while an item has it.

forms = version -> the form as JSON | "n:" version -> how many items have it ]]
local forms = {}

-- Takes the form itself out of an item that was given one (see the letter g in items.lua), and returns it.
function forms.take(item)
  local version, text = string.match(item.form or '', '^(%x+):(.*)$')
  if not version then return nil end
  item.form = version
  return (string.gsub(text, '\a', ' '))
end

function forms.add(version, text)
  if redis.call('HINCRBY', keys.forms, 'n:' .. version, 1) == 1 then redis.call('HSET', keys.forms, version, text) end
end

function forms.drop(version)
  if redis.call('HINCRBY', keys.forms, 'n:' .. version, -1) == 0 then redis.call('HDEL', keys.forms, version, 'n:' .. version) end
end

-- The record of an item as `take` reads it.
function forms.full_record(item)
  if not item.form then return item.record end
  item.form = item.form .. ':' .. string.gsub(redis.call('HGET', keys.forms, item.form), ' ', '\a')
  return items.format(item)
end
