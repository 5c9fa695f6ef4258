-- status: <clock> <last token> <finished> <skew> <soonest> <open|mixed|paused> <lease_seconds> <form version>
-- and then a space and a shelf, for each shelf that may hold something, in order of precedence. Times
-- are the queue's, in microseconds. No lease runs out and nothing comes due before `soonest`. What
-- `mixed` is open, too, for a queue with more than a plain row: see choose.lua. What
-- nearly every move reads is one field: a field more costs as much as half a command.
local clock, token, finished, skew, soonest, open, lease_seconds, form_version, shelves =
  string.match(status, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%l+) (%S+) (%S+)(.*)$')
if not clock then -- of a schema to come, as docs/decisions/0010-schema.md says; each move stops here, ahead of any write
  return redis.error_reply('-NEWER this queue has schema ' .. (string.match(status, '^v(%d+) ') or '?')
    .. ', which this version of leaseq does not know: it changed nothing. Use a newer version of leaseq')
end
