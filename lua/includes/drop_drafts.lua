local function drop_draft(id, person)
  local people, left = call('HGET', DRAFTS, id), {}
  for other in string.gmatch(people or '', '[^\t]+') do
    if other ~= person then left[#left + 1] = other end
  end
  call('HDEL', DRAFTS, id .. '\t' .. person)
  if left[1] then
    call('HSET', DRAFTS, id, table.concat(left, '\t'))
  else
    call('HDEL', DRAFTS, id)
  end
end

local function drop_drafts(id)
  local people = call('HGET', DRAFTS, id)
  if not people then return end
  for person in string.gmatch(people, '[^\t]+') do call('HDEL', DRAFTS, id .. '\t' .. person) end
  call('HDEL', DRAFTS, id)
end
