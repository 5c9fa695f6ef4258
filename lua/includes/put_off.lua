-- What a person passed over: how far they looked, in the hash CURSORS (`<row>:<shelf>`, a tab, the score of the
-- entry, a newline, for each shelf), and their `later` sets (see bars.lua).
local CURSORS = string.sub(LEDGER, 1, -7) .. 'cursors'

-- The shelf on which an assignment that a person put off waits for them still; nil or false: on none.
local function waits_for(member, row, person)
  local item = read_item(member)
  if not item or row_of(item) ~= row then return nil end
  local sign = bar_of(call('HGET', BARS, item_of(member)), person)
  if sign == '=' or sign == '-' then return nil end
  local shelf = item.s or 'normal'
  return call('ZSCORE', shelf_key(row, shelf), member) and shelf
end

-- Puts what a person gave back into their `later` set. Their cursors name the shelf then, so that clear finds the set
-- when they are gone: see tidy.lua.
local function put_off(item, person)
  local row = row_of(item)
  call('ZADD', later_key(row, person), at, item.id)
  local looked = string.gsub(call('HGET', CURSORS, person) or '', 'idle\t%d+\n', '')
  local path = row .. ':' .. (item.s or 'normal') .. '\t'
  if not string.find('\n' .. looked, '\n' .. path, 1, true) then
    call('HSET', CURSORS, person, looked .. path .. '0\n')
  end
end
