-- Writes the status back, and a count of what happened.
local function save()
  --- @include join_status
  call('HSET', LEDGER, 'status', status)
end

local function count(what) call('HINCRBY', LEDGER, 'n:' .. what, 1) end
