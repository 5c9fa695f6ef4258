-- What a script will change in the ledger, field after value, written in one call.
local changes = {}

local function write_changes()
  if changes[1] then call('HSET', LEDGER, unpack(changes)) end
  changes = {}
end
