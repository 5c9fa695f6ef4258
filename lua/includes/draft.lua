-- The draft that a person left on an item; else, where the policy shares drafts, the latest of anybody.
local function draft_for(id, person)
  local found = call('HMGET', DRAFTS, id .. '\t' .. person, id)
  if found[1] then return found[1] end
  if found[2] and share_drafts == 'true' then
    return call('HGET', DRAFTS, id .. '\t' .. string.match(found[2], '[^\t]*$'))
  end
  return false
end
