-- Keys that only the rare ways of a move need. Deriving them from the ledger's spares every ordinary
-- call the cost of naming them; they are of the queue's own slot and pattern.
local QUEUE = string.sub(LEDGER, 1, -7)
local SCHEDULED, DEAD, FINISHED = QUEUE .. 'scheduled', QUEUE .. 'dead', QUEUE .. 'finished'
local HISTORY, DRAFTS, LATE = QUEUE .. 'history', QUEUE .. 'drafts', QUEUE .. 'late'
