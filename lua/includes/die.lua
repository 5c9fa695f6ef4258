-- Failures and death are the item's: when its attempts are used up, its other assignments that wait die
-- along; one that somebody holds may still be finished.
local function count_failure(item)
  local first = item
  if item.id ~= item_of(item.id) then first = read_item(item_of(item.id)) end
  first.f = (first.f or 0) + 1
  if first ~= item then write_item(first) end
  return first.f >= (first.m or max_attempts) + 0, first.f
end

--- @include due
local function to_dead(item, score)
  call('ZADD', DEAD, string.format('%.0f', score), item.id)
  write_item(item)
  count('died')
end

-- The caller takes `item` out of the set that it was in.
local function die(item, score, whom)
  local id = item_of(item.id)
  to_dead(item, score)
  call('ZREM', DUE, id)
  note('died', id .. '\t' .. whom)
  for _, member in ipairs(assignments(id)) do
    local other = member ~= item.id and read_item(member)
    local state, _, set = where(other or item)
    if other and (state == 'inbound' or state == 'scheduled') then
      to_dead(other, score)
      call('ZREM', set, member)
      note('died', id .. '\t\t')
    end
  end
end
