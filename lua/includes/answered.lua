-- An assignment of an item is answered; it is in the set `source` still. Of an item with several, that person
-- gets none again, and their draft goes; what else of it is theirs alone is anybody's. The others' drafts and
-- the due date go when all the assignments that there are have their answer: the next one comes into being when
-- the one before it is handed out, so that none is missing then, whatever the policy's `answers` is by now.
local function answered(member, person, source)
  local id = item_of(member)
  local members = assignments(id)
  if #members > 1 then
    local bars = set_bar(id, person, '=')
    if string.find(bars, '\t@' .. person .. '\t', 1, true) then
      --- @include rules
      --- @include shelves
      --- @include item
      --- @include place
      --- @include where
      --- @include unassign
      unassign(id, person, member)
    end
    drop_draft(id, person)
    local missing = false
    for _, other in ipairs(members) do
      missing = missing or other ~= member and not call('ZSCORE', FINISHED, other)
    end
    if missing then
      if source == DEAD then
        --- @include item
        --- @include due_again
        due_again(id, member)
      end
      return
    end
  end
  drop_drafts(id)
  call('ZREM', DUE, id)
end
