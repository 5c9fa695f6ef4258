#!lua flags=no-writes
--[[ All that is stored about items, for a backup: each item as it is at one moment.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items     3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead      7 leaseq:{q}:finished  8 leaseq:{q}:history
       9 leaseq:{q}:late     10 leaseq:{q}:drafts
ARGV   1 the time in microseconds, or ''   2 HSCAN's cursor in the hash `items`, 3 about how many entries it
       returns; '' each to read only the items that follow:   then ids
REPLY  {'items', HSCAN's next cursor or '', {the ids that are left for another call}, item, …}, where an item
       is {id, its score in the set `due` or '', late answers or '', relations or '', decision or '',
       {person, draft, …}, then for each assignment the set that it is in, its score, record, latest grant or '', history or ''}
       {'no-queue'} ]]
--- @include places
--- @include drafts
--- @include forms
local refusal = queue.open(true)
if refusal then return refusal end
local remaining_bytes, remaining_calls = 1000000, 600 -- both approximate: at least one item is returned

local function read(key, field) return redis.call('HGET', key, field) or '' end

local function drafts_of(id)
  local list = {}
  for _, person in ipairs(drafts.people(id)) do
    list[#list + 1], list[#list + 2] = person, read(keys.drafts, id .. '\t' .. person)
  end
  return list
end

local function dump(id)
  local due = redis.call('ZSCORE', keys.due, id) or ''
  local parts = { id, due, read(keys.late, id), read(keys.relations, id), read(keys.decisions, id), drafts_of(id) }
  for _, member in ipairs(items.assignments(id)) do
    local item = items.read(member)
    local state, score = places.find(item)
    local record = member == id and forms.full_record(item) or item.record
    for _, part in ipairs({ state, score, record, read(keys.ledger, 'g:' .. member), read(keys.history, member) }) do
      parts[#parts + 1] = part
    end
    remaining_calls = remaining_calls - 8
  end
  for i, part in ipairs(parts) do remaining_bytes = remaining_bytes - (i == 6 and #table.concat(part) or #part) end
  remaining_calls = remaining_calls - 6 - #parts[6] / 2
  return parts
end

local ids, next_cursor = {}, ''
if ARGV[2] ~= '' then
  local step = redis.call('HSCAN', keys.items, ARGV[2], 'COUNT', ARGV[3])
  next_cursor = step[1]
  for i = 1, #step[2], 2 do
    if items.round(step[2][i]) == 1 then ids[#ids + 1] = step[2][i] end
  end
end
for i = 4, #ARGV do ids[#ids + 1] = ARGV[i] end

local reply, remaining_ids = { 'items', next_cursor }, {}
reply[3] = remaining_ids
for _, id in ipairs(ids) do
  if remaining_bytes <= 0 or remaining_calls <= 0 then
    remaining_ids[#remaining_ids + 1] = id
  elseif redis.call('HEXISTS', keys.items, id) == 1 then
    reply[#reply + 1] = dump(id)
  end
end
return reply
