local function count(what) call('HINCRBY', LEDGER, 'n:' .. what, 1) end
