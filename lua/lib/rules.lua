--[[ The policy's fields that the rarer scripts read: one line, in the ledger's field `rules`.

rules = [rule *(" " rule)]
rule  = name "=" value

name   a field of the policy, in alphabetical order; fields that have their default are left out
value  its JSON, - for none; for bands, the two numbers, separated by a comma ]]
local rules = {}
--- @defaults

-- Returns the value of each field as text, false for none; or nil and the name of an unknown field, of a
-- newer version.
function rules.parse(line)
  local values = setmetatable({}, { __index = DEFAULTS })
  for name, value in string.gmatch(line, '(%S-)=(%S+)') do
    if DEFAULTS[name] == nil then return nil, name end
    values[name] = value ~= '-' and value
  end
  return values
end

function rules.format(values)
  local words = {}
  for name, value in pairs(values) do
    if DEFAULTS[name] ~= value then words[#words + 1] = name .. '=' .. (value or '-') end
  end
  table.sort(words)
  return table.concat(words, ' ')
end
