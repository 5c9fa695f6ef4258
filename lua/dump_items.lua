#!lua flags=no-writes
--[[ All that is stored of items, for a backup: each as of one moment.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items     3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead      7 leaseq:{q}:finished  8 leaseq:{q}:history
       9 leaseq:{q}:late     10 leaseq:{q}:drafts
ARGV   1 the time in microseconds, or ''   2 HSCAN's cursor in the hash `items`, 3 about how many entries it gives; '' each to
       look for these only:   then ids
REPLY  {'items', HSCAN's next cursor or '', {the ids that are left for another call}, item, …}, where an item is {id, its
       score in the set `due` or '', late answers or '', bars or '', {person, draft, …}, then of each assignment the set that
       it is in, its score, record, latest grant or '', history or ''}
       {'no-queue'} ]]
--- @include places
--- @include grants
local refused = queue.open(true)
if refused then return refused end
local room, calls = 1000000, 600 -- bytes to give and commands to run, about: at least one item is given

local function read(key, field) return redis.call('HGET', key, field) or '' end

local function drafts_of(id)
  local found = {}
  for person in string.gmatch(read(keys.drafts, id), '[^\t]+') do
    found[#found + 1], found[#found + 2] = person, read(keys.drafts, id .. '\t' .. person)
  end
  return found
end

local function dump(id)
  local due = redis.call('ZSCORE', keys.due, id) or ''
  local known = { id, due, read(keys.late, id), read(keys.bars, id), drafts_of(id) }
  for _, member in ipairs(items.assignments(id)) do
    local item = items.read(member)
    local state, score = places.find(item)
    for _, part in ipairs({ state, score, item.record, read(keys.ledger, 'g:' .. member), read(keys.history, member) }) do
      known[#known + 1] = part
    end
    calls = calls - 8
  end
  for i, part in ipairs(known) do room = room - (i == 5 and #table.concat(part) or #part) end
  calls = calls - 5 - #known[5] / 2
  return known
end

local ids, next_ = {}, ''
if ARGV[2] ~= '' then
  local found = redis.call('HSCAN', keys.items, ARGV[2], 'COUNT', ARGV[3])
  next_ = found[1]
  for i = 1, #found[2], 2 do
    if items.round(found[2][i]) == 1 then ids[#ids + 1] = found[2][i] end
  end
end
for i = 4, #ARGV do ids[#ids + 1] = ARGV[i] end

local reply, left = { 'items', next_ }, {}
reply[3] = left
for _, id in ipairs(ids) do
  if room <= 0 or calls <= 0 then
    left[#left + 1] = id
  elseif redis.call('HEXISTS', keys.items, id) == 1 then
    reply[#reply + 1] = dump(id)
  end
end
return reply
