-- Puts an assignment at the end of its shelf: `returned` where it was out before. `score` must be later
-- than every entry there. The caller saves. Wakes one of those who wait for an item.
--- @include line
local waited_for

local function place(item, returned, score)
  local round, row = round_of(item.id), row_of(item)
  local shelf = band_of(item.p) .. (round > 1 and ':' .. round or '') .. (returned and ':returned' or '')
  item.s = shelf ~= 'normal' and shelf or nil
  call('ZADD', shelf_key(row, shelf), string.format('%.0f', score), item.id)
  open_shelf(row, shelf)
  write_item(item)
  if waited_for == nil then waited_for = open ~= 'paused' and call('HEXISTS', LEDGER, 'line') == 1 end
  if waited_for then wake(1) end
end
