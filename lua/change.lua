#!lua
--[[ Changes an item that has a waiting, scheduled or dead assignment. Priority, due date and skills change in
all of its assignments: waiting ones move to their new shelf by their age, held ones stay with their holders,
and dead ones stay dead. The payload changes only while nobody holds or has answered any of them. Fields that
already have the given value are left alone. Refused when memory is full: a payload may grow.

KEYS   as adopt.lua
ARGV   1 the time in microseconds, or ''   2 id   3 by whom, or ''   4 request id
       then, for each given field: its name, its value, and that value as JSON for the journal. priority,
       due, requires: as in the item's head, '' for none; payload: JSON; delay: in microseconds, 0 for now;
       answers: how many it needs, alone in any state; what is surplus then is closed (lib/surplus.lua), what is
       missing is opened (lib/missing.lua).
       And 'expected', with '': an object of JSON with the value that each of priority, due and requires must
       have now, and for delay when the item becomes available: '' if some of it is
REPLY  {'item', the item}   {'wrong-state', the item}: no assignment of it waits, is scheduled or,
       without a delay, is dead
       {'unexpected', the item}: a value is not the expected one
       {'taken'}: its payload can't be changed   {'rows', how many rows may wait at the same time}
       {'no-item'}   {'no-queue'} ]]
local id, by, request = ARGV[2], ARGV[3], ARGV[4]
local MAX_REQUESTS = 16 -- latest requests that changed something
local MAX_SCANNED = 300 -- entries to search for a free score: more than an enqueue adds, a microsecond apart
--- @include missing
--- @include cursors
--- @include describe
local refusal = queue.open()
if refusal then return refusal end
local first = items.read(id)
if not first then return { 'no-item' } end

-- A repeat after a lost reply: the item may have been handed out or changed by others since.
local requests = {}
for earlier_request in string.gmatch(redis.call('HGET', keys.ledger, 'changes') or '', '%S+') do
  if earlier_request == request then return { 'item', describe(id) } end
  if #requests < MAX_REQUESTS - 1 then requests[#requests + 1] = earlier_request end
end

-- Decide what changes.
local new_values, json = {}, {}
for i = 5, #ARGV, 3 do new_values[ARGV[i]], json[ARGV[i]] = ARGV[i + 1], ARGV[i + 2] end
local assignments, is_waiting, is_scheduled, is_dead, is_taken, was_out = {}, false, false, false, false, false
for i, member in ipairs(items.assignments(id)) do
  local item = items.read(member)
  local state, score, key = places.find(item)
  assignments[i] = { item = item, state = state, score = score, key = key,
    is_waiting = state == 'inbound' or state == 'scheduled' }
  is_waiting = is_waiting or assignments[i].is_waiting
  is_scheduled = is_scheduled or state == 'scheduled'
  is_dead = is_dead or state == 'dead'
  is_taken = is_taken or state == 'reserved' or state == 'finished'
  was_out = was_out or item.attempts ~= nil
end
local is_only_answers = new_values.answers and #ARGV == 7
if not is_only_answers and not is_waiting and (new_values.delay or not is_dead) then return { 'wrong-state', describe(id) } end

if new_values.expected then
  local is_available, available_at = false, ''
  for _, assignment in ipairs(assignments) do
    if assignment.state == 'inbound' or assignment.state == 'reserved' then is_available = true end
    if assignment.state == 'scheduled' and available_at == '' then available_at = stamp(assignment.score) end
  end
  for name, value in pairs(cjson.decode(new_values.expected)) do
    local value_now = first[name] or ''
    if name == 'delay' then value_now = is_available and '' or available_at end
    if value ~= value_now then return { 'unexpected', describe(id) } end
  end
end

local delay, fields = new_values.delay and new_values.delay + 0, {}
local must_move = delay and (delay > 0 or is_scheduled)
local needed_count = new_values.answers and surplus.needed_count(first)
local function is_new(name)
  if name == 'delay' then return must_move end
  if name == 'answers' then return new_values.answers and new_values.answers + 0 ~= needed_count end
  return new_values[name] and new_values[name] ~= (first[name] or '')
end
for _, name in ipairs({ 'priority', 'due', 'requires', 'payload', 'delay', 'answers' }) do
  if is_new(name) then fields[#fields + 1] = '"' .. name .. '": ' .. json[name] else new_values[name] = nil end
end
if not fields[1] then return { 'item', describe(id) } end
if new_values.payload and is_taken then return { 'taken' } end
if new_values.requires and new_values.requires ~= ''
  and shelves.too_many_rows({ [string.gsub(new_values.requires, ',', '+')] = true }) then
  return { 'rows', shelves.ROW_LIMIT }
end

-- Write it.

-- The score for an entry that has waited since the given time: the first free one from then on that is after
-- all entries that anybody has passed over. Nil if the next MAX_SCANNED scores are taken.
local function free_score(row, shelf, key, since)
  local score = math.max(since, cursors.passed_score(shelves.path(row, shelf)) + 1)
  local entries = redis.call('ZRANGEBYSCORE', key, stamp(score), '+inf', 'WITHSCORES', 'LIMIT', 0, MAX_SCANNED)
  for i = 2, #entries, 2 do
    if entries[i] + 0 ~= score then return score end
    score = score + 1
  end
  return #entries ~= 2 * MAX_SCANNED and score or nil
end

-- Moves an assignment whose priority or skills were changed to its new shelf, to the place there that
-- corresponds to how long it has waited; if somebody has passed over later entries, it goes after those. If
-- there is no free score near that place, it goes to the shelf of returned items, before all that were never
-- handed out.
local function move(item, key, since)
  local row, old_shelf = shelves.row(item), item.shelf or 'normal'
  local shelf = string.gsub(old_shelf, '^%l+', shelves.band(item.priority))
  local to = shelves.key(row, shelf)
  if to == key then
    items.write(item)
    return
  end
  local score = free_score(row, shelf, to, since + 0)
  if score then
    queue.now = math.max(queue.now, score) -- what enters next is later
    places.put(item, string.find(old_shelf, ':returned', 1, true), stamp(score))
  else
    places.put(item, true)
  end
  redis.call('ZREM', key, item.member)
end

local function write_place(assignment)
  if must_move and assignment.is_waiting and delay > 0 then
    local due = queue.now + delay
    redis.call('ZADD', keys.scheduled, stamp(due), assignment.item.member)
    items.write(assignment.item)
    if assignment.state == 'inbound' then redis.call('ZREM', assignment.key, assignment.item.member) end
    queue.expect(due)
  elseif must_move and assignment.state == 'scheduled' then
    places.put(assignment.item, assignment.item.attempts or assignment.item.assignee)
    redis.call('ZREM', keys.scheduled, assignment.item.member)
  elseif assignment.state == 'inbound' then
    move(assignment.item, assignment.key, assignment.score)
  else
    items.write(assignment.item)
  end
end

for _, assignment in ipairs(assignments) do
  local item = assignment.item
  for _, name in ipairs({ 'priority', 'due', 'requires' }) do
    if new_values[name] then item[name] = new_values[name] ~= '' and new_values[name] or nil end
  end
  if new_values.payload and item.member == id then
    item.payload = new_values.payload
    if was_out then item.changed_at = stamp(queue.token) end
  end
  write_place(assignment)
  local grant = new_values.due and assignment.state == 'reserved' and grants.latest(item.member)
  if grant then
    grant.due = item.due and ''
    grants.write(item.member, grant)
  end
end
for _, assignment in ipairs(new_values.answers and assignments or {}) do
  local item = items.read(assignment.item.member)
  item.answers = new_values.answers
  items.write(item)
end
if new_values.answers then
  places.close_surplus(id)
  missing.open(id)
end
if new_values.due then
  redis.call('ZREM', keys.due, id)
  places.enter_due(id)
end
redis.call('HSET', keys.ledger, 'changes', table.concat({ request, unpack(requests) }, ' '))
journal.note('changed', id, '', by, cjson.encode('{' .. table.concat(fields, ', ') .. '}'))
commit()
return { 'item', describe(id) }
