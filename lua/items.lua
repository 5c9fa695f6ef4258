#!lua flags=no-writes
--[[ One page of the items in one state: inbound in the order in which they are reserved, the others by
their score.

KEYS   as get.lua
ARGV   1 the time (not used)   2 state, or due: all with a due date, by that date   3 limit, 1 to 250   4 row and shelf with a
       tab between, 5 score, 6 assignment last seen, or '' each
REPLY  {'items', 1 where it stopped before the limit because the items are large, else 0,
       {assignment, row and shelf with a tab between, the assignment as get.lua gives it}, …} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, HISTORY, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local state, limit, shelf, score, last = ARGV[2], ARGV[3] + 0, ARGV[4], ARGV[5], ARGV[6]
local status = call('HGET', LEDGER, 'status')
if not status then return { 'items', 0 } end
--- @include ledger
--- @include assignments
--- @include shelves
--- @include item
--- @include where
--- @include describe
--- @include due

-- The rank behind the last item seen; where it has left the set, behind where it was.
local function resume_at(key)
  if score == '' then return 0 end
  local rank = call('ZRANK', key, last)
  if rank and call('ZSCORE', key, last) + 0 == score + 0 then return rank + 1 end
  rank = call('ZCOUNT', key, '-inf', '(' .. score)
  for _, tie in ipairs(call('ZRANGEBYSCORE', key, score, score, 'LIMIT', 0, 250)) do
    if tie <= last then rank = rank + 1 end
  end
  return rank
end

local reply, room = { 'items', 0 }, 1000000 -- bytes, so that large items don't make a long call
local function read(key, name)
  local start = resume_at(key)
  for _, member in ipairs(call('ZRANGE', key, start, start + limit - #reply + 1)) do
    if room <= 0 then reply[2] = 1 end
    local known = room > 0 and describe_one(member)
    if known then
      reply[#reply + 1] = { member, name, known }
      for i = 3, 6 do room = room - #(known[i] or '') end
    end
  end
end

local sets = { reserved = RESERVED, scheduled = SCHEDULED, finished = FINISHED, dead = DEAD, due = DUE }
if sets[state] then
  read(sets[state], '')
  return reply
end
local places = {}
each_shelf(function(row, name) places[#places + 1] = { row = row, shelf = name, name = row .. '\t' .. name } end)
-- The one last seen may be empty, and so not listed, by now.
local last_row, last_shelf = string.match(shelf, '^(.*)\t(.*)$')
local function behind(place)
  if not last_row then return true end
  if place.row ~= last_row then return place.row > last_row end
  return rank_of(place.shelf) > rank_of(last_shelf)
end
table.sort(places, function(a, b)
  if a.row ~= b.row then return a.row < b.row end
  return rank_of(a.shelf) < rank_of(b.shelf)
end)
for _, place in ipairs(places) do
  local same = place.name == shelf
  if same or behind(place) and #reply < limit + 2 then
    if not same then score = '' end
    read(shelf_key(place.row, place.shelf), place.name)
  end
end
return reply
