#!lua flags=no-writes
--[[ One page of a list: the items in one state (inbound in the order in which they are reserved, the others by
their score) or those with a due date, all of them or those that a filter names.

KEYS   as get.lua
ARGV   1 the time (not used)   2 state, or due: all with a due date, by that date   3 most items, 1 to 250
       4 most entries to look at   5 row and shelf with a tab between, 6 score, 7 assignment last seen, or '' each
       8 back: from the end to the beginning   9 from this score on, 10 up to before this one, or '' each
       11 what the id begins with   12 a person, 13 how their lease ended (held: it hasn't; assigned: it is theirs
       alone), 14 a text of what they said: of one and the same lease   15 a skill   16 how many people gave it back; '' each where
       it is all one
REPLY  {'items', how many were looked at, row and shelf, score and assignment looked at last ('' each at the end
       of the list), {assignment, row and shelf with a tab between, the assignment as get.lua gives it}, …}
       {'no-queue'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, HISTORY, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local state, limit, left = ARGV[2], ARGV[3] + 0, ARGV[4] + 0
local shelf, score, last = ARGV[5], ARGV[6], ARGV[7]
local back, least, most = ARGV[8] == 'back', ARGV[9], ARGV[10]
local status = call('HGET', LEDGER, 'status')
if not status then return { 'no-queue' } end
--- @include ledger
--- @include assignments
--- @include shelves
--- @include item
--- @include where
--- @include describe
--- @include due

local found, looked, more, at = {}, 0, false, { '', '', '' }
local room = 1000000 -- bytes to read, so that large items don't make a long call
--- @include wanted

-- How many of a set stand before the last one seen, and whether it is there still.
local function before_last(key)
  local rank = call('ZRANK', key, last)
  if rank and call('ZSCORE', key, last) + 0 == score + 0 then return rank, 1 end
  rank = call('ZCOUNT', key, '-inf', '(' .. score)
  for _, tie in ipairs(call('ZRANGEBYSCORE', key, score, score, 'LIMIT', 0, 250)) do
    if tie < last then rank = rank + 1 end
  end
  return rank, 0
end

-- The entries of a set that come next, in ascending order, one more than may be looked at.
local function entries_of(key, resumed)
  local first, behind = 0, back and call('ZCARD', key) or 0
  if resumed then
    local before, there = before_last(key)
    first, behind = before + there, before
  end
  if back then
    if most ~= '' then behind = math.min(behind, call('ZCOUNT', key, '-inf', '(' .. most)) end
    if behind == 0 then return {} end
    return call('ZRANGE', key, math.max(0, behind - left - 1), behind - 1, 'WITHSCORES')
  end
  if least ~= '' then first = math.max(first, call('ZCOUNT', key, '-inf', '(' .. least)) end
  return call('ZRANGE', key, first, first + left, 'WITHSCORES')
end

local function read(key, name, resumed)
  local entries = entries_of(key, resumed)
  local from, to, step = 1, #entries - 1, 2
  if back then from, to, step = to, from, -2 end
  for i = from, to, step do
    local member, time = entries[i], entries[i + 1]
    if not back and most ~= '' and time + 0 >= most + 0 then return end
    if back and least ~= '' and time + 0 < least + 0 then return end
    more = left == 0 or #found == limit or room <= 0
    if more then return end
    left, looked, at = left - 1, looked + 1, { name, time, member }
    local known = wanted(member) and describe_one(member)
    if known then
      found[#found + 1] = { member, name, known }
      for j = 3, 6 do room = room - #(known[j] or '') end
    end
  end
end

local function read_inbound()
  local places = {}
  each_shelf(function(row, name) places[#places + 1] = { row = row, shelf = name, name = row .. '\t' .. name } end)
  -- The one last seen may be empty, and so not listed, by now.
  local last_row, last_shelf = string.match(shelf, '^(.*)\t(.*)$')
  local function follows(a, b)
    if back then a, b = b, a end
    if a.row ~= b.row then return a.row > b.row end
    return rank_of(a.shelf) > rank_of(b.shelf)
  end
  table.sort(places, function(a, b) return follows(b, a) end)
  for _, place in ipairs(places) do
    local same = place.name == shelf
    if more then return end
    if same or not last_row or follows(place, { row = last_row, shelf = last_shelf }) then
      read(shelf_key(place.row, place.shelf), place.name, same)
    end
  end
end

local sets = { reserved = RESERVED, scheduled = SCHEDULED, finished = FINISHED, dead = DEAD, due = DUE }
if sets[state] then read(sets[state], '', score ~= '') else read_inbound() end
if not more then at = { '', '', '' } end
return { 'items', looked, at[1], at[2], at[3], unpack(found) }
