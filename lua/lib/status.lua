--[[ The state of a queue that nearly every script reads: one line, in the ledger's field `status`.

status = "v1 " clock " " token " " finished " " skew " " next_sweep " " mode " " lease_seconds " " form_version " " shelves
shelves = [shelf *(" " shelf)]

clock          the time of the queue's latest change
token          the token of the latest grant; minus the ledger's `n:reserved`, if set, the number of grants
finished       how many were finished
skew           what is added to the server's time because its clock was set back
next_sweep     no lease runs out and nothing scheduled comes due before this time; at most NEVER, 2^53 - 1,
               the largest time that a score holds exactly
mode           open; mixed: open, with skills, assigned items or several answers; paused
lease_seconds  the policy's lease_seconds
form_version   the version of the policy's form, against which answers are checked; - without a form
shelves        the shelves of the plain row that may hold something, in order of precedence (see shelves)

Times are in microseconds since 1970. In a newer schema it begins with another number
(docs/decisions/0010-schema.md). ]]
local status = {}
--- @constant STATUS_PATTERN '^v1 (%d+) (%d+) (%d+) (%d+) (%d+) (%l+) (%S+) (%S+) (.*)$'
--- @constant STATUS_FORMAT 'v1 %d %d %d %d %d %s %s %s %s'
--- @constant NEVER 9007199254740991
--- @constant NEW_STATUS 'v1 0 0 0 0 9007199254740991 open - - '

-- For the ordinary cases of reserve, finish and clear, without a skew. `rest`: from the mode on. UNSKEWED_PATTERN:
-- clock, token, finished, next_sweep, rest, mode, lease_seconds, form_version, first shelf. OPEN_PATTERN, for an open
-- queue: clock, token, finished, next_sweep, rest, lease_seconds, the first shelf's band, and a colon if it has items that
-- were handed out or more than a first round. TIMES_PATTERN: clock, finished, next_sweep.
--- @constant UNSKEWED_STATUS(clock, token, finished, next_sweep, rest) 'v1 ' .. clock .. ' ' .. token .. ' ' .. finished .. ' 0 ' .. next_sweep .. ' ' .. rest
--- @constant UNSKEWED_PATTERN '^v1 (%d+) (%d+) (%d+) 0 (%d+) ((%l+) (%S+) (%S+) (%S*).*)$'
--- @constant OPEN_PATTERN '^v1 (%d+) (%d+) (%d+) 0 (%d+) (open (%S+) %S+ (%l*)(:?).*)$'
--- @constant TIMES_PATTERN '^v1 (%d+) %d+ (%d+) 0 (%d+) '

-- Reads the line into the fields of `state`. Returns false if it has another schema.
function status.parse(line, state)
  local clock, token, finished, skew, next_sweep, mode, lease_seconds, form_version, shelves =
    string.match(line, STATUS_PATTERN)
  if not clock then return false end
  state.clock, state.token, state.finished, state.skew, state.next_sweep =
    clock + 0, token + 0, finished + 0, skew + 0, next_sweep + 0
  state.mode, state.lease_seconds, state.form_version, state.shelves = mode, lease_seconds, form_version, shelves
  return true
end

function status.format(state)
  return string.format(STATUS_FORMAT, state.clock, state.token, state.finished, state.skew, state.next_sweep, state.mode,
    state.lease_seconds, state.form_version, state.shelves)
end
