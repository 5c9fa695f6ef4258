-- status: <clock> <last token> <finished> <skew> <soonest> <open|mixed|paused> <lease_seconds> <form version>
-- and then a space and a shelf, for each shelf that may hold something, in order of precedence. Times
-- are the queue's, in microseconds. No lease runs out and nothing comes due before `soonest`. What
-- `mixed` is open, too, for a queue with more than a plain row: see choose.lua. What
-- nearly every move reads is one field: a field more costs as much as half a command.
local clock, token, finished, skew, soonest, open, lease_seconds, form_version, shelves =
  string.match(status, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%l+) (%S+) (%S+)(.*)$')
