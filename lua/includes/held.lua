-- What a person holds: `<last request>\t<assignment>\t<assignment>\t…`, the oldest first; with a space
-- before it where they passed items over, so that reserve looks with care.
local function without(holdings, id)
  local first, last = string.find(holdings, '\t' .. id .. '\t', 1, true)
  if not first then return holdings end
  return string.sub(holdings, 1, first) .. string.sub(holdings, last + 1)
end

local function unhold(person, id)
  local holdings = call('HGET', LEDGER, 'p:' .. person)
  if holdings then call('HSET', LEDGER, 'p:' .. person, without(holdings, id)) end
end

local function mark(person)
  local holdings = call('HGET', LEDGER, 'p:' .. person) or '\t'
  if string.byte(holdings) ~= 32 then call('HSET', LEDGER, 'p:' .. person, ' ' .. holdings) end
end
