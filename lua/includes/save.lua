-- Writes the ledger's lines back, and a count of what happened.
local function save_row() call('HSET', LEDGER, 'row', soonest .. ' ' .. shelves) end

local function save_tick()
  call('HSET', LEDGER, 'tick', at .. ' ' .. token .. ' ' .. finished .. ' ' .. skew)
end

local function count(what) call('HINCRBY', LEDGER, 'n:' .. what, 1) end
