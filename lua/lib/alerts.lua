--- @include queue
--[[ The queue's alerts. In the ledger's field `raised` are those that are raised now, in the order of the policy's rules; in
the field `idle`, since when items wait and nobody holds one, while the policy has a rule for that.

raised = *(rule " " since " " value LF)
rule   = measure ">" limit
idle   = since " " token

measure  a measure of the policy field `alerts`; limit and value are items or seconds
since    when the alert was raised; of idle, when it was first found so
value    of the measure at that time
token    of the latest grant then: a higher one says that somebody held an item in the meantime ]]
local alerts = {}

function alerts.parse(text)
  local list = {}
  for measure, limit, since, value in string.gmatch(text, '(%l+)>(%d+) (%d+) (%d+)\n') do
    list[#list + 1] = { measure = measure, limit = limit, since = since, value = value }
  end
  return list
end

function alerts.format(list)
  local lines = {}
  for i, alert in ipairs(list) do
    lines[i] = string.format('%s>%s %s %s\n', alert.measure, alert.limit, alert.since, alert.value)
  end
  return table.concat(lines)
end

-- The rules of the policy field `alerts`, of its JSON.
function alerts.rules(json)
  local list = {}
  for measure, limit in string.gmatch(json, '"(%l+)>(%d+)"') do
    list[#list + 1] = { measure = measure, limit = limit }
  end
  return list
end

-- The alert of a rule in a list, or nil. A rule with another limit is another rule.
function alerts.find(list, rule)
  for _, alert in ipairs(list) do
    if alert.measure == rule.measure and alert.limit == rule.limit then return alert end
  end
end
