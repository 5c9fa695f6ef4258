-- Items with a due date, by that date, until they are finished, removed, or an assignment of them is dead.
local DUE = string.sub(LEDGER, 1, -7) .. 'due'
