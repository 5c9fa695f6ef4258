#!lua
--[[ Changes an item of which something waits, is scheduled or is dead. Priority, due date and skills are those of
all its assignments; what waits moves to its new shelf by its age, what somebody holds stays with them, and what is
dead stays dead. The payload is changed only while nobody holds or answered any of it. What is as it is to be is
left alone. Refused when memory is full: a payload may grow.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:late   11 leaseq:{q}:drafts
ARGV   1 the time in microseconds, or ''   2 id   3 by whom, or ''   4 request id
       then of each field that is given: its name, its value, and that value as JSON for the journal. priority,
       due, requires: as in the item's head, '' for none; payload: JSON; delay: in microseconds, 0 for at once
REPLY  {'item', the item}   {'wrong-state', the item}: no assignment of it waits, is scheduled or,
       without a delay, is dead
       {'taken'}: its payload can't be changed   {'rows', how many rows may wait at once}
       {'no-item'}   {'no-queue'} ]]
local id, by, request = ARGV[2], ARGV[3], ARGV[4]
local REMEMBERED = 16 -- latest requests that changed something
local NEAR = 300 -- entries that are looked at for a free score; an enqueue adds fewer one microsecond apart
--- @include leases
--- @include rows
--- @include describe
local refused = queue.open()
if refused then return refused end
local first = items.read(id)
if not first then return { 'no-item' } end

-- A lost reply: the item may have been handed out, or changed by others since.
local requests = {}
for one in string.gmatch(redis.call('HGET', keys.ledger, 'changes') or '', '%S+') do
  if one == request then return { 'item', describe(id) } end
  if #requests < REMEMBERED - 1 then requests[#requests + 1] = one end
end

-- Decide what changes.
local wanted, json = {}, {}
for i = 5, #ARGV, 3 do wanted[ARGV[i]], json[ARGV[i]] = ARGV[i + 1], ARGV[i + 2] end
local all, waits, is_scheduled, is_dead, is_taken, was_out = {}, false, false, false, false, false
for i, member in ipairs(items.assignments(id)) do
  local item = items.read(member)
  local state, score, key = places.find(item)
  all[i] = { item = item, state = state, score = score, key = key, waits = state == 'inbound' or state == 'scheduled' }
  waits = waits or all[i].waits
  is_scheduled = is_scheduled or state == 'scheduled'
  is_dead = is_dead or state == 'dead'
  is_taken = is_taken or state == 'reserved' or state == 'finished'
  was_out = was_out or item.attempts ~= nil
end
if not waits and (wanted.delay or not is_dead) then return { 'wrong-state', describe(id) } end

local delay, fields = wanted.delay and wanted.delay + 0, {}
local moves = delay and (delay > 0 or is_scheduled)
local function is_new(name)
  if name == 'delay' then return moves end
  return wanted[name] and wanted[name] ~= (first[name] or '')
end
for _, name in ipairs({ 'priority', 'due', 'requires', 'payload', 'delay' }) do
  if is_new(name) then fields[#fields + 1] = '"' .. name .. '": ' .. json[name] else wanted[name] = nil end
end
if not fields[1] then return { 'item', describe(id) } end
if wanted.payload and is_taken then return { 'taken' } end
if wanted.requires and wanted.requires ~= '' and rows.too_many({ [string.gsub(wanted.requires, ',', '+')] = true }) then
  return { 'rows', rows.MOST }
end

-- Write it.

-- The score for an entry that waits since a time: that time, or else the first free one behind what anybody passed over.
-- Nil where the next NEAR are taken.
local function free_score(row, shelf, key, since)
  local anywhere, here = unpack(redis.call('HMGET', keys.passed, '*', row .. ':' .. shelf))
  -- Where there are cursors without it, an earlier version wrote them.
  if not anywhere then anywhere = redis.call('EXISTS', keys.cursors) == 1 and queue.now or 0 end
  local score = math.max(since, anywhere + 1, (here or 0) + 1)
  local entries = redis.call('ZRANGEBYSCORE', key, stamp(score), '+inf', 'WITHSCORES', 'LIMIT', 0, NEAR)
  for i = 2, #entries, 2 do
    if entries[i] + 0 ~= score then return score end
    score = score + 1
  end
  return #entries ~= 2 * NEAR and score or nil
end

-- Moves an assignment whose priority or skills were changed to the shelf that it belongs on now, among the entries there by
-- the time since when it waits; where somebody passed over later ones, behind those. Where that has no place near it goes
-- ahead of what was not out before.
local function move(item, key, since)
  local row, before = shelves.row(item), item.shelf or 'normal'
  local shelf = string.gsub(before, '^%l+', shelves.band(item.priority))
  local to = shelves.key(row, shelf)
  if to == key then
    items.write(item)
    return
  end
  local score = free_score(row, shelf, to, since + 0)
  if score then
    queue.now = math.max(queue.now, score) -- what enters next is later
    places.put(item, string.find(before, ':returned', 1, true), stamp(score))
  else
    places.put(item, true)
  end
  redis.call('ZREM', key, item.member)
end

local function write_place(one)
  if moves and one.waits and delay > 0 then
    local due = queue.now + delay
    redis.call('ZADD', keys.scheduled, stamp(due), one.item.member)
    items.write(one.item)
    if one.state == 'inbound' then redis.call('ZREM', one.key, one.item.member) end
    queue.expect(due)
  elseif moves and one.state == 'scheduled' then
    places.put(one.item, one.item.attempts or one.item.only)
    redis.call('ZREM', keys.scheduled, one.item.member)
  elseif one.state == 'inbound' then
    move(one.item, one.key, one.score)
  else
    items.write(one.item)
  end
end

for _, one in ipairs(all) do
  local item = one.item
  for _, name in ipairs({ 'priority', 'due', 'requires' }) do
    if wanted[name] then item[name] = wanted[name] ~= '' and wanted[name] or nil end
  end
  if wanted.payload and item.member == id then
    item.payload = wanted.payload
    if was_out then item.changed_at = stamp(queue.token) end
  end
  write_place(one)
  local grant = wanted.due and one.state == 'reserved' and grants.latest(item.member)
  if grant then
    grant.due = item.due and ''
    grants.write(item.member, grant)
  end
end
if wanted.due then
  redis.call('ZREM', keys.due, id)
  places.enter_due(id)
end
redis.call('HSET', keys.ledger, 'changes', table.concat({ request, unpack(requests) }, ' '))
journal.note('changed', id, '', by, cjson.encode('{' .. table.concat(fields, ', ') .. '}'))
commit()
return { 'item', describe(id) }
