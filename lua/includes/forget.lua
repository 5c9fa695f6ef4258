-- Takes an item out of everything, and gives the token of a lease that ended by it, or ''.
local function forget(id)
  local token, first = '', read_item(id)
  first.o = nil -- who put it off did so before it was assigned
  local row = row_of(first)
  drop_drafts(id)
  local bars = call('HGET', BARS, id)
  local members = assignments(id)
  for _, member in ipairs(members) do
    local grant = call('HGET', LEDGER, 'g:' .. member)
    if is_held(grant) then
      local person
      token, person = string.match(grant, '^(%d+)\t([^\t]*)\t')
      unhold(person, member)
    end
    local _, _, set = where(read_item(member))
    if set then call('ZREM', set, member) end
    call('HDEL', LEDGER, 'g:' .. member)
    call('HDEL', HISTORY, member)
    call('HDEL', ITEMS, member)
  end
  call('HDEL', LATE, id)
  call('ZREM', DUE, id)
  for name in string.gmatch(bars or '', '\t~([^\t]+)') do call('ZREM', later_key(row, name), unpack(members)) end
  call('HDEL', BARS, id)
  return token
end
