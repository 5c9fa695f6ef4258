--- @include queue
--[[ What people have typed so far, in the hash `drafts`. The field `<id> TAB <person>` has a person's draft,
as JSON; the field `<id>` has the people with a draft.

people = person *(TAB person), the latest last ]]
local drafts = {}

-- The people with a draft, without this one.
function drafts.people(id, except)
  local people = {}
  for person in string.gmatch(redis.call('HGET', keys.drafts, id) or '', '[^\t]+') do
    if person ~= except then people[#people + 1] = person end
  end
  return people
end

-- A person's own draft; else, if the policy shares drafts, the latest one of anybody; false without one.
function drafts.read(id, person)
  local own_draft, people = unpack(redis.call('HMGET', keys.drafts, id .. '\t' .. person, id))
  if own_draft or not people or queue.rules.share_drafts ~= 'true' then return own_draft end
  return redis.call('HGET', keys.drafts, id .. '\t' .. string.match(people, '[^\t]*$'))
end

function drafts.write(id, person, draft)
  local people = drafts.people(id, person)
  people[#people + 1] = person
  redis.call('HSET', keys.drafts, id .. '\t' .. person, draft, id, table.concat(people, '\t'))
end

-- Returns whether there was one.
function drafts.drop(id, person)
  if redis.call('HDEL', keys.drafts, id .. '\t' .. person) == 0 then return false end
  local people = drafts.people(id, person)
  if people[1] then
    redis.call('HSET', keys.drafts, id, table.concat(people, '\t'))
  else
    redis.call('HDEL', keys.drafts, id)
  end
  return true
end

function drafts.drop_all(id)
  for _, person in ipairs(drafts.people(id)) do redis.call('HDEL', keys.drafts, id .. '\t' .. person) end
  redis.call('HDEL', keys.drafts, id)
end
