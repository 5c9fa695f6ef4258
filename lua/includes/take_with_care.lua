-- Chooses what this person may have, in a queue that is mixed or for a person who passes items over.
-- Needs: what take.lua needs. Sets: next_id, next_item, shelf, record, attempt, marks, draft, emptied,
-- and reply where there is more to look at than fits one call.
if not reply then
  --- @include other_keys
  --- @include rules
  --- @include assignments
  --- @include shelves
  --- @include item
  --- @include place
  --- @include draft
  --- @include taken_before
  --- @include following
  --- @include choose
  --- @include remember
  local found, more, seen = choose(skills)
  remember(seen)
  local item = found and read_item(found[1])
  if found and not item then -- an enqueue that the server broke off, and so never acknowledged
    call('ZREM', shelf_key(found[2], found[3]), found[1])
    more = true
  end
  if item then
    next_id, next_item, shelf = found[1], item_of(found[1]), shelf_key(found[2], found[3])
    attempt, marks, draft = taken_before(item, next_item, person)
    if waiter then leave_line(waiter) end -- the next assignment wakes somebody else
    following(item)
    record = payload_of(next_id, call('HGET', ITEMS, next_id))
    if found[4] then call('ZREM', found[4], next_id) end
  elseif more then
    reply = { 'more' }
  end
  if marked then request = ' ' .. request end -- they stay marked
end
