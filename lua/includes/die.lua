-- Failures and death are the item's: when its attempts are used up, its other assignments that wait die
-- along; one that somebody holds may still be finished, and dies if it comes back.
local function count_failure(item)
  local first = item
  if item.id ~= item_of(item.id) then first = read_item(item_of(item.id)) end
  first.f = (first.f or 0) + 1
  if first ~= item then write_item(first) end
  return first.x ~= nil or first.f >= (first.m or max_attempts) + 0, first.f
end

--- @include due
local function to_dead(item, score)
  call('ZADD', DEAD, string.format('%.0f', score), item.id)
  write_item(item)
  call('ZREM', DUE, item_of(item.id))
  count('died')
end

local function died_before(item)
  local id = item_of(item.id)
  return (item.id == id and item or read_item(id)).x ~= nil
end

-- The caller takes `item` out of the set that it was in.
local function die(item, score, whom)
  local id, held = item_of(item.id), false
  to_dead(item, score)
  note('died', id .. '\t' .. whom)
  for _, member in ipairs(assignments(id)) do
    local other = member ~= item.id and read_item(member)
    local state, _, set = where(other or item)
    if other and (state == 'inbound' or state == 'scheduled') then
      to_dead(other, score)
      call('ZREM', set, member)
      note('died', id .. '\t\t')
    end
    held = held or other and state == 'reserved'
  end
  if held then
    local first = item.id == id and item or read_item(id)
    first.x = ''
    write_item(first)
  end
end
