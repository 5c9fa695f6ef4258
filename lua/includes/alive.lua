-- How many of what a person holds have not run out.
local function alive_of(holdings)
  local alive = 0
  for id in string.gmatch(holdings or '', '\t([^\t]+)') do
    if expiry_of(call('HGET', LEDGER, 'g:' .. id)) > now then alive = alive + 1 end
  end
  return alive
end
