-- Puts an item at the end of a shelf. `score` must be later than every entry there.
local function place(item, shelf, score)
  item.s = shelf ~= 'normal' and shelf or nil
  call('ZADD', shelf_key(shelf), string.format('%.0f', score), item.id)
  open_shelf(shelf)
  write_item(item)
end
