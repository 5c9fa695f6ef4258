local function drop_drafts(id)
  local people = call('HGET', DRAFTS, id)
  if not people then return end
  for person in string.gmatch(people, '[^\t]+') do call('HDEL', DRAFTS, id .. '\t' .. person) end
  call('HDEL', DRAFTS, id)
end
