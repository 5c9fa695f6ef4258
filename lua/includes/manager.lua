-- A manager's move in the journal: the item, the token it ended (or ''), who did it.
local function moved(what, id, token, by)
  save()
  call('XADD', JOURNAL, at, what, id .. '\t' .. token .. '\t' .. by)
end
