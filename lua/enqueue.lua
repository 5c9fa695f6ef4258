#!lua
--[[ Adds items, one or many. An item whose id exists already is left as it is. Refused when memory is full:
there must be room left to work the items that are in the queue.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:items  3 leaseq:{q}:inbound  4 leaseq:{q}:scheduled
       5 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''   2 request id; one that the caller chose is followed by \a, the
       number of the chunk, \a, and a digest of what the call adds
       then for each item, at most 250: id, its head after the time (see lib/items.lua; if the policy has dedupe_seconds,
       with the payload's digest before it), payload
REPLY  {'ok', how many were added; with dedupe_seconds also the id of the item that has the first one's
       payload, or '' (nil without dedupe_seconds); if there are any, the places (from 1) of items whose id
       exists with another payload text}   {'digests'}: send them   {'no-queue'}
       {'reused'}: this request id was used for something else
       {'rows', how many sets of skills may wait at the same time} ]]
local request = ARGV[2]
--- @include places
--- @include forms
--- @include journal
local refusal = queue.open()
if refusal then return refusal end
local given_items, request_log = {}, redis.call('HGET', keys.ledger, 'request')
for i = 3, #ARGV, 3 do
  given_items[#given_items + 1] = { id = ARGV[i], digest = string.match(ARGV[i + 1], '^%x+'),
    head = string.gsub(ARGV[i + 1], '^%x+', ''), payload = ARGV[i + 2] }
end

-- A repeat after a lost reply gets the same count again. Several requests are remembered, since others may
-- have enqueued in the meantime.
local earlier_requests, is_repeated, earlier_count = {}, false, nil
local chosen_prefix = string.match(request, '^.*\a')
for earlier_id, count in string.gmatch(request_log or '', '(%S+) (%d+)') do
  if earlier_id == request then
    is_repeated = true -- if it added nothing, the item that has the payload is looked up again
    if count ~= '0' then earlier_count = count + 0 end
  elseif chosen_prefix and string.sub(earlier_id, 1, #chosen_prefix) == chosen_prefix then
    return { 'reused' }
  elseif #earlier_requests < 15 then
    earlier_requests[#earlier_requests + 1] = earlier_id .. ' ' .. count
  end
end

-- dedupe_seconds: a payload equal to one that was added within the window is a duplicate, whatever its id.
-- For each payload a string key, which expires, names the item that was added first: `seen = entered " " id`.
-- If that item was removed, or its id belongs to another item by now, it does not count.
local window, id_by_digest = queue.rules.dedupe_seconds * 1000000, {}
if window > 0 then
  local names = {}
  for i, item in ipairs(given_items) do
    if not item.digest then return { 'digests' } end
    names[i] = keys.seen .. ':' .. item.digest
  end
  for i, seen in ipairs(redis.call('MGET', unpack(names))) do
    local entered, id = string.match(seen or '', '^(%d+) (.*)$')
    local stored_item = entered and queue.now - entered < window and items.read(id)
    if stored_item and stored_item.enqueued == items.enqueued(entered) then
      id_by_digest[given_items[i].digest] = id
    end
  end
end

-- Decide which are added.
local entered, enqueued = stamp(queue.now), items.enqueued(queue.now)
local ids, new_items, payloads, duplicate_id, duplicate_count, conflicts = {}, {}, {}, '', 0, nil
for i, item in ipairs(given_items) do ids[i] = item.id end
local stored_records = redis.call('HMGET', keys.items, unpack(ids))
for i, item in ipairs(given_items) do
  local stored_payload = stored_records[i] and string.match(stored_records[i], '\n(.*)$') or payloads[item.id]
  if stored_payload and stored_payload ~= item.payload then
    conflicts = conflicts or {}
    conflicts[#conflicts + 1] = i
  end
  local first_id = id_by_digest[item.digest]
  if not stored_payload and not earlier_count and first_id then
    duplicate_count = duplicate_count + 1
    if i == 1 then duplicate_id = first_id end
  elseif not stored_payload and not earlier_count then
    if window > 0 then id_by_digest[item.digest] = item.id end
    payloads[item.id] = item.payload
    new_items[#new_items + 1] = item
  end
end

-- Where they go: the shelf or `scheduled`, and the score there.
local places_by_key, records, dues, expiries, questions, own_forms, assignees, needed_rows = {}, {}, {}, {}, {}, {}, {}, {}
for i, new_item in ipairs(new_items) do
  local item = items.parse(new_item.id, enqueued .. new_item.head .. '\n' .. new_item.payload)
  local score, key = queue.now + i - 1, keys.scheduled
  if item.expires then
    items.fix_expiry(item)
    local list = item.asked and questions or expiries
    list[#list + 1], list[#list + 2] = item.expires, item.member
    queue.expect(item.expires + 0)
  end
  local form = item.form and forms.take(item)
  if form then own_forms[#own_forms + 1] = { item.form, form } end
  local start = items.take_start(item, score)
  if start then
    score = start
    queue.expect(start)
  else
    local row, shelf = shelves.row(item), shelves.band(item.priority)
    item.shelf = shelf ~= 'normal' and shelf or nil
    key = shelves.key(row, shelf)
    places_by_key[key] = places_by_key[key] or { row = row, shelf = shelf }
    if row ~= '' then needed_rows[row] = true end
  end
  local place = places_by_key[key] or {}
  places_by_key[key] = place
  place[#place + 1], place[#place + 2] = stamp(score), item.member
  records[#records + 1], records[#records + 2] = item.member, items.format(item)
  if item.due then dues[#dues + 1], dues[#dues + 2] = item.due, item.member end
  if item.assignee then assignees[item.member] = items.assignee(item) end
end
if next(needed_rows) and shelves.too_many_rows(needed_rows) then return { 'rows', shelves.ROW_LIMIT } end

-- Write.
local log_tail, count = ' ' .. table.concat(earlier_requests, ' '), earlier_count or #new_items
if duplicate_count > 0 and not is_repeated then redis.call('HINCRBY', keys.ledger, 'n:deduped', duplicate_count) end
if new_items[1] then
  local waiting_count, names = 0, {}
  if window > 0 then
    for _, item in ipairs(new_items) do
      redis.call('SET', keys.seen .. ':' .. item.digest, entered .. ' ' .. item.id, 'PX', math.ceil(window / 1000))
    end
  end
  for key, place in pairs(places_by_key) do
    redis.call('ZADD', key, unpack(place))
    if place.shelf then
      shelves.open(place.row, place.shelf)
      waiting_count = waiting_count + #place / 2
    end
  end
  if dues[1] then redis.call('ZADD', keys.due, unpack(dues)) end
  if expiries[1] or questions[1] then shelves.mix() end
  if expiries[1] then redis.call('ZADD', keys.expiring, unpack(expiries)) end
  if questions[1] then redis.call('ZADD', keys.questions, unpack(questions)) end
  for _, form in ipairs(own_forms) do forms.add(unpack(form)) end
  redis.call('HSET', keys.items, unpack(records))
  for i, item in ipairs(new_items) do names[i] = item.id end
  local fields = {}
  for id, person in pairs(assignees) do
    redis.call('HSET', keys.relations, id, NEW_ASSIGNMENT(person))
    queue.count('assigned')
    fields[#fields + 1], fields[#fields + 2] = 'assigned', CHANGE(id, '', '') .. '\t' .. cjson.encode(person)
  end
  redis.call('XADD', keys.journal, 'MAXLEN', '~', journal.MAX_ENTRIES, entered, 'enqueued', table.concat(names, '\t'), unpack(fields))
  queue.now = queue.now + #new_items - 1
  queue.save()
  redis.call('HINCRBY', keys.ledger, 'n:enqueued', count)
  redis.call('HSET', keys.ledger, 'request', request .. ' ' .. count .. log_tail)
  if waiters.can_be_woken() then waiters.wake(waiting_count) end
elseif duplicate_count > 0 or chosen_prefix and not earlier_count and not conflicts then
  redis.call('HSET', keys.ledger, 'request', request .. ' 0' .. log_tail)
end
if conflicts then return { 'ok', count, window > 0 and duplicate_id, conflicts } end
return { 'ok', count, window > 0 and duplicate_id or nil }
