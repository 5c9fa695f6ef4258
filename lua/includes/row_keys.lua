-- The keys of what waits, derived from the ledger's where only some ways of a move need them.
local ITEMS, INBOUND = string.sub(LEDGER, 1, -7) .. 'items', string.sub(LEDGER, 1, -7) .. 'inbound'
