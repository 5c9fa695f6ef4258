-- Writes what a look at the shelves found: the person's cursors and what they pass over for now, and
-- which shelves are empty. Sets `emptied` where the status changed.
local function remember(seen)
  if seen.moved then
    local text = ''
    for path, score in pairs(seen.cursors) do text = text .. path .. '\t' .. score .. '\n' end
    call('HSET', CURSORS, person, text)
  end
  for _, one in ipairs(seen.later) do call('ZADD', later_key(one[1], person), 'NX', at, one[2]) end
  local gone = seen.gone
  while gone do
    call('ZREM', gone[1], gone[2])
    gone = gone[3]
  end
  for _, head in ipairs(seen.empty) do
    local names = head.row == '' and shelves or call('HGET', ROWS, head.row) or ''
    local first, last = string.find(names .. ' ', ' ' .. head.shelf .. ' ', 1, true)
    if first then names = string.sub(names, 1, first - 1) .. string.sub(names, last) end
    if head.row == '' then
      shelves, emptied = names, true
    elseif names == '' then
      call('HDEL', ROWS, head.row)
    else
      call('HSET', ROWS, head.row, names)
    end
  end
end
