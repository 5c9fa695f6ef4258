-- A person who answered an item, or holds another assignment of it, gives it no second answer.
local function may_answer(id, person, holdings)
  if open == 'open' then return true end
  if bar_of(call('HGET', BARS, id), person) == '=' then return false end
  local hands = holdings or ''
  return not string.find(hands, '\t' .. id .. '\t', 1, true)
    and not string.find(hands, '\t' .. id .. '\a', 1, true)
end
