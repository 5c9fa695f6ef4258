-- All that is known of an item: state, score, record, latest grant, history, late answers.
local function describe(id)
  local item = read_item(id)
  if not item then return nil end
  local state, score = where(item)
  return { state or '', score or '0', call('HGET', ITEMS, id), call('HGET', LEDGER, 'g:' .. id),
    call('HGET', HISTORY, id), call('HGET', LATE, id),
    max_attempts }
end
