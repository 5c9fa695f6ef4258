--- @include leases
--- @include relations
-- Assignments that an item lacks, since the number of its answers was raised.
local missing = {}

-- Gives no further assignment of the item to those who answered this one, also if their answer was corrected: for an
-- item with one assignment this was not recorded.
local function keep_away(id, member)
  for _, text in ipairs(grants.read_all(member)) do
    local grant = grants.parse(text)
    if grant.ending == 'finished' or grant.ending == 'corrected' then relations.set(id, grant.person, '=') end
  end
end

-- Opens what the item needs: what was closed, then a new assignment; each further one follows when the one before it
-- is handed out. Nothing if it died or nobody needs it.
function missing.open(id)
  local first, members, closed_items, count = items.read(id), items.assignments(id), {}, 0
  if first.dies or first.ended then return end
  for _, member in ipairs(members) do
    if redis.call('ZSCORE', keys.dead, member) then return end
    if surplus.is_closed(member) then
      closed_items[#closed_items + 1] = items.read(member)
    else
      count = count + 1
    end
  end
  local needed = surplus.needed_count(first)
  if count >= needed then return end
  for _, member in ipairs(members) do keep_away(id, member) end
  shelves.mix()
  for i = 1, math.min(needed - count, #closed_items) do
    local item = closed_items[i]
    places.put(item, item.attempts ~= nil)
    redis.call('ZREM', keys.finished, item.member)
  end
  local last = items.read(members[#members])
  if count + #closed_items < needed and grants.latest(last.member) then leases.add_assignment(last, true) end
  places.enter_due(id)
  first = items.read(id)
  if first.expires then
    places.need_again(first)
    items.write(first)
  end
end
