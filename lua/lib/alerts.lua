--- @include queue
--[[ The queue's alerts. The ledger's field `raised` has those that are raised now, in the order of the
policy's rules. If the policy has a rule for it, the field `idle` has the time since which items have been
waiting while nobody holds one, and the field `question` what was found when open questions were last looked at.

raised = *(rule " " since " " value LF)
rule   = measure ">" limit
idle   = since " " token
question = rank " " found " " last

measure  a measure of the policy field `alerts`; limit and value are items or seconds
since    when the alert was raised; in idle, when that state was first found
value    the measure's value at that time
token    the token of the latest grant at that time: a higher one now means that somebody has held an item
rank     of the next question to look at, by their deadlines: those before it have been looked at in this round
found    when the oldest of these was asked; NEVER for none
last     the same, of the round before this one ]]
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

-- The rules in the JSON of the policy field `alerts`.
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
