-- An assignment of an item was answered. Of an item with several, that person gets none again, and their
-- draft goes; the others' drafts and the due date go with the last answer.
local function answered(id, person, answers)
  local members = assignments(id)
  if #members > 1 then
    set_bar(id, person, '=')
    call('HDEL', DRAFTS, id .. '\t' .. person)
    local missing = answers - #members
    for _, member in ipairs(members) do
      if not call('ZSCORE', FINISHED, member) then missing = missing + 1 end
    end
    if missing > 1 then return end -- more than the one that is being finished
  end
  drop_drafts(id)
  call('ZREM', DUE, id)
end
