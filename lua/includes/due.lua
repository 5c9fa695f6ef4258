-- Items with a due date, by that date, until they are finished, dead or removed.
local DUE = string.sub(LEDGER, 1, -7) .. 'due'
