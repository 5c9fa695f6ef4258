-- tick: <clock> <last token> <finished> <skew>, the queue's time in microseconds and counts. The
-- ledger packs what nearly every move reads into three fields: a field more costs as much as half a
-- command.
local clock, token, finished, skew = string.match(tick, '^(%d+) (%d+) (%d+) (%d+)$')
