-- An assignment of an item is answered. Of an item with several, that person gets none again, and their
-- draft goes; what waits of it for them alone is anybody's. The others' drafts and the due date go with the
-- last answer.
local function answered(member, person, answers)
  local id = item_of(member)
  local members = assignments(id)
  if #members > 1 then
    local bars = set_bar(id, person, '=')
    if string.find(bars, '\t@' .. person .. '\t', 1, true) then
      --- @include shelves
      --- @include item
      --- @include place
      --- @include where
      --- @include unassign
      unassign(id, person, member)
    end
    drop_draft(id, person)
    local missing = math.max(answers - #members, 0)
    for _, other in ipairs(members) do
      if other ~= member and not call('ZSCORE', FINISHED, other) then missing = missing + 1 end
    end
    if missing > 0 then return end
  end
  drop_drafts(id)
  call('ZREM', DUE, id)
end
