--- @include item_limits
-- An item that was held before: its last grant joins the history, a draft comes along.
local function taken_before(id, person)
  local item = read_item(id)
  if item.a then
    local past, history = call('HGET', LEDGER, 'g:' .. id), call('HGET', HISTORY, id)
    past = history and history .. '\n\n' .. past or past
    while #past > HISTORY_BYTES do past = string.match(past, '\n\n(.*)$') end -- the oldest go
    call('HSET', HISTORY, id, past)
  end
  if not item.w then return (item.a or 0) + 1, '', false end
  return (item.a or 0) + 1, ' w', draft_for(id, person)
end
