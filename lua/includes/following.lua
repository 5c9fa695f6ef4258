-- The next assignment of an item comes into being when one is handed out for the first time.
local function following(item)
  local round = round_of(item.id) + 1
  if item.a or round > answers + 0 then return end
  local id = item_of(item.id) .. '\a' .. round
  if call('HEXISTS', ITEMS, id) == 1 then return end
  place({ id = id, at = item.at, p = item.p, m = item.m, d = item.d, r = item.r, payload = '\n' }, false, now)
end
