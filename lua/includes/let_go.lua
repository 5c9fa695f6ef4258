-- Takes a held assignment out of its holder's hands, back to inbound: nobody is to blame for it. Where the
-- item died meanwhile it dies along. `by`: who did it, or ''. The caller writes the journal.
local function let_go(member, grant, by, died)
  local item, id = read_item(member), item_of(member)
  local token = end_grant(item, grant, 'released ' .. at)
  count('released')
  note('released', id .. '\t' .. token .. '\t' .. by)
  if died then
    to_dead(item, now)
    note('died', id .. '\t\t')
  else
    place(item, true, now)
  end
  call('ZREM', RESERVED, member)
end
