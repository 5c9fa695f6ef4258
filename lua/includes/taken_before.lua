--- @include item_limits
-- The attempt that a grant is, its marks, and the draft that comes along. Where the assignment was held
-- before, its last grant joins the history.
local function taken_before(item, id, person)
  if item.a then
    local past, history = call('HGET', LEDGER, 'g:' .. item.id), call('HGET', HISTORY, item.id)
    past = (history or '') ~= '' and history .. '\n\n' .. past or past
    while #past > HISTORY_BYTES do past = string.match(past, '\n\n(.*)$') end -- the oldest go
    call('HSET', HISTORY, item.id, past)
  end
  local draft = (item.w or open ~= 'open') and draft_for(id, person)
  local marks = ((item.w or draft) and ' w' or '') .. (item.d and ' d' or '')
  return (item.a or 0) + 1, marks, draft
end
