#!lua flags=no-writes
--[[ The outcomes of items: their state and their answers.

KEYS   as get.lua
ARGV   1 the time (not used)   then the ids, at most 250
REPLY  {'outcomes', {state, record (with its own form: see lib/items.lua), late answers, '' or what is open, '' or the decision of a
       finished item if it is about the answers that follow (see lib/decisions.lua), then the latest grant of each finished assignment} or nil, …}: fewer if they are large, at least one   {'no-queue'}
       what is open: when it may be reserved if it is scheduled, else ''; then for each unfinished assignment
       that is assigned to a person a TAB and their name, with \a for a space ]]
--- @include places
--- @include grants
--- @include forms
--- @include decisions
local refusal = queue.open(true)
if refusal then return refusal end
local RANK = { reserved = 1, inbound = 2, scheduled = 3, dead = 4, finished = 5 }
local has_decisions = redis.call('EXISTS', keys.decisions) == 1
local remaining_bytes = 1000000 -- bytes to read, so that large items don't make a long call

local function outcome(id)
  local record = redis.call('HGET', keys.items, id)
  if not record then return false end
  if string.find(record, '^[^\n]* g%x') then record = forms.full_record(items.parse(id, record)) end
  local entry, open, scheduled = { 'finished', record, redis.call('HGET', keys.late, id) or '', '', '' }, '', nil
  for _, member in ipairs(items.assignments(id)) do
    local state, score = 'finished', redis.call('ZSCORE', keys.finished, member) -- most are, so look there first
    if not score then
      local item = items.read(member)
      state, score = places.find(item)
      state = state or 'finished'
      if item.assignee then open = open .. '\t' .. item.assignee end
    end
    if state == 'scheduled' then scheduled = math.min(score, scheduled or score) end
    if RANK[state] < RANK[entry[1]] then entry[1] = state end
    local grant = state == 'finished' and redis.call('HGET', keys.ledger, 'g:' .. member)
    if grant and string.find(grant, '\nfinished ', 1, true) then entry[#entry + 1] = grant end -- else it was closed
  end
  if entry[1] == 'scheduled' then open = stamp(scheduled) .. open end
  entry[4] = open
  local decision = has_decisions and entry[1] == 'finished' and decisions.read(id)
  if decision and string.match(decision, '([^\t]*)\n') == decisions.tokens(id) then entry[5] = decision end
  for i = 2, #entry do remaining_bytes = remaining_bytes - #entry[i] end
  return entry
end

local reply = { 'outcomes' }
for i = 2, #ARGV do
  reply[i] = outcome(ARGV[i])
  if remaining_bytes <= 0 then break end
end
return reply
