-- Enters an item that has a due date into DUE again, unless an assignment of it is dead: nobody can complete it
-- until it is revived. `but`: an assignment that is dead no more, though it is in that set still.
-- Needs: assignments, item, due.
local function due_again(id, but)
  for _, member in ipairs(assignments(id)) do
    if member ~= but and call('ZSCORE', DEAD, member) then return end
  end
  local due = read_item(id).d
  if due then call('ZADD', DUE, due, id) end
end
