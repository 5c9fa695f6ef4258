-- A move for the journal: one entry a call, one field a move.
local function note(what, value)
  local n = #events
  events[n + 1], events[n + 2] = what, value
end
