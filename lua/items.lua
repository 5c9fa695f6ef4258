#!lua flags=no-writes
--[[ One page of a list: the items in one state (inbound in the order in which they are reserved, the others by
their score) or those with a due date; all of them, or only those that match a filter.

KEYS   as get.lua
ARGV   1 the time (not used)   2 state, or due: all with a due date, by that date   3 the most items, 1 to 250
       4 the most entries to scan   5 row and shelf, separated by a tab, 6 score, 7 assignment of the last
       entry seen, or '' each   8 back: from the end to the beginning   9 the lowest score, 10 the score to
       stop before, or '' each   11 the beginning of the id   12 a person, 13 how their lease ended (held: it
       has not; assigned: the item is assigned to them), 14 a text in their reason: all three about the same
       lease   15 a skill   16 at least how many people gave it back   17 the item isn't finished, and needs
       more answers than this; '' each for any
REPLY  {'items', how many entries were scanned, row and shelf, score and assignment of the last one ('' each
       at the end of the list), {assignment, row and shelf separated by a tab, the assignment as get.lua
       returns it}, …}
       {'no-queue'} ]]
local state, limit, remaining = ARGV[2], ARGV[3] + 0, ARGV[4] + 0
local shelf, score, last_member = ARGV[5], ARGV[6], ARGV[7]
local is_backwards, min_score, max_score = ARGV[8] == 'back', ARGV[9], ARGV[10]
--- @include describe
local page, scan_count, has_more, at = {}, 0, false, { '', '', '' }
local remaining_bytes = 1000000 -- bytes to read, so that large items don't make a long call

-- The filter.
local prefix, person, ending, text, skill = ARGV[11], ARGV[12], ARGV[13], string.lower(ARGV[14]), ARGV[15]
local abandons = ARGV[16] ~= '' and ARGV[16] + 0 or 0
local answers_above = tonumber(ARGV[17])

-- The reason for which a person gave it back or failed it, in lower case.
local function reason_of(grant)
  local json = grant.ending == 'abandoned' and grant.detail
    or grant.ending == 'failed' and string.match(grant.detail, ' (.*)')
  local reason = json and cjson.decode('[' .. json .. ']')[1]
  return type(reason) == 'string' and string.lower(reason) or ''
end

local function is_matching_lease(grant)
  return (person == '' or grant.person == person) and (ending == '' or (grant.ending or 'held') == ending)
    and (text == '' or string.find(reason_of(grant), text, 1, true) ~= nil)
end

local function read_grants(member)
  local list = grants.read_all(member)
  for i, grant in ipairs(list) do
    remaining_bytes = remaining_bytes - #grant
    list[i] = grants.parse(grant)
  end
  return list
end

local function has_matching_lease(list)
  for _, grant in ipairs(list) do
    if is_matching_lease(grant) then return true end
  end
  return false
end

local function has_enough_abandons(list)
  local people, count = {}, 0
  for _, grant in ipairs(list) do
    if grant.ending == 'abandoned' and not people[grant.person] then
      people[grant.person], count = true, count + 1
    end
  end
  return count >= abandons
end

local function is_matching_assignment(member)
  if answers_above then
    local first = state ~= 'finished' and items.read(items.id(member))
    if not first or surplus.needed_count(first) <= answers_above then return false end
    remaining_bytes = remaining_bytes - #first.payload
  end
  local is_about_leases = person ~= '' or ending ~= '' or text ~= ''
  if skill ~= '' or ending == 'assigned' then
    local item = items.read(member)
    if not item then return false end -- left over from an enqueue that the server aborted
    remaining_bytes = remaining_bytes - #item.payload
    if skill ~= '' and not string.find(',' .. (item.requires or '') .. ',', ',' .. skill .. ',', 1, true) then
      return false
    end
    if ending == 'assigned' then
      if not item.assignee or text ~= '' or (person ~= '' and not items.is_for(item, person)) then return false end
      is_about_leases = false
    end
  end
  if not is_about_leases and abandons == 0 then return true end
  local list = read_grants(member)
  return (not is_about_leases or has_matching_lease(list)) and has_enough_abandons(list)
end

-- In the list by due date, an item matches if any of its assignments does.
local function is_matching(member)
  if string.sub(member, 1, #prefix) ~= prefix then return false end
  for _, other in ipairs(state == 'due' and items.assignments(member) or { member }) do
    if is_matching_assignment(other) then return true end
  end
  return false
end

-- How many entries of a set are before the last one seen, and 1 if that one is still there, else 0.
local function last_rank(key)
  local rank = redis.call('ZRANK', key, last_member)
  if rank and redis.call('ZSCORE', key, last_member) + 0 == score + 0 then return rank, 1 end
  -- It is gone: find its place among the entries of the same score, which are in the order of their names.
  local low = redis.call('ZCOUNT', key, '-inf', '(' .. score)
  local high = low + redis.call('ZCOUNT', key, score, score)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if redis.call('ZRANGE', key, middle, middle)[1] < last_member then low = middle + 1 else high = middle end
  end
  return low, 0
end

-- The next entries of a set, in ascending order, one more than may be scanned.
local function read_entries(key, is_resumed)
  local start, stop = 0, is_backwards and redis.call('ZCARD', key) or 0
  if is_resumed then
    local rank, own_count = last_rank(key)
    start, stop = rank + own_count, rank
  end
  if is_backwards then
    if max_score ~= '' then stop = math.min(stop, redis.call('ZCOUNT', key, '-inf', '(' .. max_score)) end
    if stop == 0 then return {} end
    return redis.call('ZRANGE', key, math.max(0, stop - remaining - 1), stop - 1, 'WITHSCORES')
  end
  if min_score ~= '' then start = math.max(start, redis.call('ZCOUNT', key, '-inf', '(' .. min_score)) end
  return redis.call('ZRANGE', key, start, start + remaining, 'WITHSCORES')
end

local function read(key, name, is_resumed)
  local entries = read_entries(key, is_resumed)
  local from, to, step = 1, #entries - 1, 2
  if is_backwards then from, to, step = to, from, -2 end
  for i = from, to, step do
    local member, time = entries[i], entries[i + 1]
    if not is_backwards and max_score ~= '' and time + 0 >= max_score + 0 then return end
    if is_backwards and min_score ~= '' and time + 0 < min_score + 0 then return end
    has_more = remaining == 0 or #page == limit or remaining_bytes <= 0
    if has_more then return end
    remaining, scan_count, at = remaining - 1, scan_count + 1, { name, time, member }
    local description = is_matching(member) and describe_assignment(member)
    if description then
      page[#page + 1] = { member, name, description }
      for j = 3, 6 do remaining_bytes = remaining_bytes - #(description[j] or '') end
    end
  end
end

local function read_inbound()
  local shelf_list = {}
  shelves.each(function(row, name) shelf_list[#shelf_list + 1] = { row = row, shelf = name, name = row .. '\t' .. name } end)
  -- The shelf of the last entry seen may be empty by now, and so not listed.
  local last_row, last_shelf = string.match(shelf, '^(.*)\t(.*)$')
  local function follows(a, b)
    if is_backwards then a, b = b, a end
    if a.row ~= b.row then return a.row > b.row end
    return shelves.rank(a.shelf) > shelves.rank(b.shelf)
  end
  table.sort(shelf_list, function(a, b) return follows(b, a) end)
  for _, place in ipairs(shelf_list) do
    local is_same = place.name == shelf
    if has_more then return end
    if is_same or not last_row or follows(place, { row = last_row, shelf = last_shelf }) then
      read(shelves.key(place.row, place.shelf), place.name, is_same)
    end
  end
end

local refusal = queue.open(true)
if refusal then return refusal end
if state == 'inbound' then read_inbound() else read(keys[state], '', score ~= '') end
if not has_more then at = { '', '', '' } end
return { 'items', scan_count, at[1], at[2], at[3], unpack(page) }
