#!lua flags=no-writes
--[[ One page of a list: the items in one state (inbound in the order in which they are reserved, the others by
their score) or those with a due date, all of them or those that a filter names.

KEYS   as get.lua
ARGV   1 the time (not used)   2 state, or due: all with a due date, by that date   3 most items, 1 to 250
       4 most entries to look at   5 row and shelf with a tab between, 6 score, 7 assignment last seen, or '' each
       8 back: from the end to the beginning   9 from this score on, 10 up to before this one, or '' each
       11 what the id begins with   12 a person, 13 how their lease ended (held: it hasn't; assigned: it is theirs
       alone), 14 a text of what they said: of one and the same lease   15 a skill   16 how many people gave it
       back; '' each for any
REPLY  {'items', how many were scanned, row and shelf, score and assignment scanned last ('' each at the end
       of the list), {assignment, row and shelf with a tab between, the assignment as get.lua gives it}, …}
       {'no-queue'} ]]
local state, limit, left = ARGV[2], ARGV[3] + 0, ARGV[4] + 0
local shelf, score, last = ARGV[5], ARGV[6], ARGV[7]
local back, least, most = ARGV[8] == 'back', ARGV[9], ARGV[10]
--- @include inbound
--- @include describe
--- @include blocks
local found, scanned, more, at = {}, 0, false, { '', '', '' }
local room = 1000000 -- bytes to read, so that large items don't make a long call

-- The filter.
local prefix, person, how, text, skill = ARGV[11], ARGV[12], ARGV[13], string.lower(ARGV[14]), ARGV[15]
local abandons = ARGV[16] ~= '' and ARGV[16] + 0 or 0

-- What a person said when they gave it back or failed it, in small letters.
local function reason_of(grant)
  local json = grant.ending == 'abandoned' and grant.detail
    or grant.ending == 'failed' and string.match(grant.detail, ' (.*)')
  local reason = json and cjson.decode('[' .. json .. ']')[1]
  return type(reason) == 'string' and string.lower(reason) or ''
end

local function is_such_a_lease(grant)
  return (person == '' or grant.person == person) and (how == '' or (grant.ending or 'held') == how)
    and (text == '' or string.find(reason_of(grant), text, 1, true) ~= nil)
end

local function all_grants(member)
  local all = blocks.read(keys.history, member)
  all[#all + 1] = redis.call('HGET', keys.ledger, 'g:' .. member) or nil
  for i, block in ipairs(all) do
    room = room - #block
    all[i] = grants.parse(block)
  end
  return all
end

local function has_such_a_lease(all)
  for _, grant in ipairs(all) do
    if is_such_a_lease(grant) then return true end
  end
  return false
end

local function was_abandoned_by_enough(all)
  local people, count = {}, 0
  for _, grant in ipairs(all) do
    if grant.ending == 'abandoned' and not people[grant.person] then
      people[grant.person], count = true, count + 1
    end
  end
  return count >= abandons
end

local function is_assignment_wanted(member)
  local about_leases = person ~= '' or how ~= '' or text ~= ''
  if skill ~= '' or how == 'assigned' then
    local item = items.read(member)
    if not item then return false end
    room = room - #item.payload
    if skill ~= '' and not string.find(',' .. (item.requires or '') .. ',', ',' .. skill .. ',', 1, true) then
      return false
    end
    if how == 'assigned' then
      if not item.only or text ~= '' or (person ~= '' and not items.is_for(item, person)) then return false end
      about_leases = false
    end
  end
  if not about_leases and abandons == 0 then return true end
  local all = all_grants(member)
  return (not about_leases or has_such_a_lease(all)) and was_abandoned_by_enough(all)
end

-- In the list by due date an item is wanted where any of its assignments is.
local function is_wanted(member)
  if string.sub(member, 1, #prefix) ~= prefix then return false end
  for _, other in ipairs(state == 'due' and items.assignments(member) or { member }) do
    if is_assignment_wanted(other) then return true end
  end
  return false
end

-- How many of a set stand before the last one seen, and whether it is there still.
local function before_last(key)
  local rank = redis.call('ZRANK', key, last)
  if rank and redis.call('ZSCORE', key, last) + 0 == score + 0 then return rank, 1 end
  -- It has left: where it stood, among those of the same score, which stand in the order of their names.
  local low = redis.call('ZCOUNT', key, '-inf', '(' .. score)
  local high = low + redis.call('ZCOUNT', key, score, score)
  while low < high do
    local middle = math.floor((low + high) / 2)
    -- equivalent mutant: compare: the last one seen is none of them
    if redis.call('ZRANGE', key, middle, middle)[1] < last then low = middle + 1 else high = middle end
  end
  return low, 0
end

-- The entries of a set that come next, in ascending order, one more than may be looked at.
local function entries_of(key, resumed)
  local first, behind = 0, back and redis.call('ZCARD', key) or 0
  if resumed then
    local before, there = before_last(key)
    first, behind = before + there, before
  end
  if back then
    if most ~= '' then behind = math.min(behind, redis.call('ZCOUNT', key, '-inf', '(' .. most)) end
    if behind == 0 then return {} end
    return redis.call('ZRANGE', key, math.max(0, behind - left - 1), behind - 1, 'WITHSCORES')
  end
  if least ~= '' then first = math.max(first, redis.call('ZCOUNT', key, '-inf', '(' .. least)) end
  return redis.call('ZRANGE', key, first, first + left, 'WITHSCORES')
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
    left, scanned, at = left - 1, scanned + 1, { name, time, member }
    local known = is_wanted(member) and describe_one(member)
    if known then
      found[#found + 1] = { member, name, known }
      for j = 3, 6 do room = room - #(known[j] or '') end
    end
  end
end

local function read_inbound()
  local places = {}
  inbound.each(function(row, name) places[#places + 1] = { row = row, shelf = name, name = row .. '\t' .. name } end)
  -- The one last seen may be empty, and so not listed, by now.
  local last_row, last_shelf = string.match(shelf, '^(.*)\t(.*)$')
  local function follows(a, b)
    if back then a, b = b, a end
    if a.row ~= b.row then return a.row > b.row end
    return shelves.rank(a.shelf) > shelves.rank(b.shelf)
  end
  table.sort(places, function(a, b) return follows(b, a) end)
  for _, place in ipairs(places) do
    local same = place.name == shelf
    if more then return end
    if same or not last_row or follows(place, { row = last_row, shelf = last_shelf }) then
      read(shelves.key(place.row, place.shelf), place.name, same)
    end
  end
end

local refused = queue.open(true)
if refused then return refused end
if state == 'inbound' then read_inbound() else read(keys[state], '', score ~= '') end
if not more then at = { '', '', '' } end
return { 'items', scanned, at[1], at[2], at[3], unpack(found) }
