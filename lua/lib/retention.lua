--- @include queue
--[[ How far the old items were deleted, in the ledger's field `retention`, if the policy limits how long finished or
dead items are kept:

retention = next " " finished " " dead

next      before this time no entry is old enough
finished  the score up to which the set `finished` was scanned
dead      the score up to which the set `dead` was scanned

With keep_finished_count, the ledger's field `full` has a number: when `finished` in the status reaches it, there may
be more than that many finished items. ]]
local retention = { START = '0 0 0' }

function retention.parse(text)
  local next_time, finished, dead = string.match(text, '^(%d+) (%d+) (%d+)$')
  return { next_time = next_time + 0, finished = finished, dead = dead }
end

function retention.format(state) return string.format('%d %s %s', state.next_time, state.finished, state.dead) end
