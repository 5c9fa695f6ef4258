-- The journal: one entry a call, one field a move, under the time of the call.
-- Enqueue and clear trim it to about JOURNAL_ENTRIES.
local JOURNAL_ENTRIES = 1000000
local events = {}

local function note(what, value)
  local n = #events
  events[n + 1] = what
  events[n + 2] = value
end

local function write_journal(id)
  if events[1] then call('XADD', JOURNAL, id, unpack(events)) end
end
