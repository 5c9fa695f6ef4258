-- Moves for the journal: one entry a call, one field a move. Needs save.
local events = {}

local function note(what, value)
  local n = #events
  events[n + 1], events[n + 2] = what, value
end

-- Writes the status and the entry.
local function tell()
  at = string.format('%.0f', now)
  save()
  call('XADD', JOURNAL, at, unpack(events))
end
