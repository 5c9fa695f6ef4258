-- The queue's keys, by the names in leaseq/engine/keys.py. All begin like the first key that a script gets,
-- the queue's ledger, so they are in one slot of a cluster.
local PREFIX = string.sub(KEYS[1], 1, -#'ledger' - 1)
local keys = setmetatable({}, { __index = function(_, name) return PREFIX .. name end })
