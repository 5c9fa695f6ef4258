-- A manager's move in the journal: the item, the token it ended (or ''), who did it, more as text.
local function moved(what, id, token, by, detail)
  save()
  call('XADD', JOURNAL, at, what, id .. '\t' .. token .. '\t' .. by .. (detail and '\t' .. cjson.encode(detail) or ''))
end
