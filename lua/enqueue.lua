#!lua
--[[ Adds items, one or many. An id that the queue already has is left as it is. Refused when memory
is full: what is in the queue must still have room to be worked.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:items  3 leaseq:{q}:inbound  4 leaseq:{q}:scheduled
       5 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''   2 request id; one that the caller chose is followed by \a, the
       number of the chunk, \a, and a digest of what the call adds
       then for each item: id, its head beyond the time (see lib/items.lua, with z<delay in
       microseconds> or z@<the time when it may be reserved>; before it, where the policy has dedupe_seconds, the payload's digest), payload
REPLY  {'ok', how many were added; with dedupe_seconds also the id of the item that has the first one's
       payload, or '' (nil without); where there are any, the places (from 1) of items whose id is there
       with another text as its payload}   {'digests'}: send them   {'no-queue'}
       {'reused'}: this request id was used for something else
       {'rows', how many sets of skills may wait at once} ]]
local request = ARGV[2]
--- @include places
--- @include rows
--- @include journal
local refused = queue.open()
if refused then return refused end
local sent, last = {}, redis.call('HGET', keys.ledger, 'request')
for i = 3, #ARGV, 3 do
  sent[#sent + 1] = { id = ARGV[i], digest = string.match(ARGV[i + 1], '^%x+'),
    head = string.gsub(ARGV[i + 1], '^%x+', ''), payload = ARGV[i + 2] }
end

-- A lost reply: the same request again gets the count that it got. Some are remembered, for others may have enqueued
-- meanwhile.
local remembered, is_repeated, added_before = {}, false, nil
local chosen = string.match(request, '^.*\a')
for one, count in string.gmatch(last or '', '(%S+) (%d+)') do
  if one == request then
    is_repeated = true -- where nothing entered, it is looked up again which item has the payload
    if count ~= '0' then added_before = count + 0 end
  elseif chosen and string.sub(one, 1, #chosen) == chosen then
    return { 'reused' }
  elseif #remembered < 15 then
    remembered[#remembered + 1] = one .. ' ' .. count
  end
end

-- dedupe_seconds: an equal payload that entered within the window is a duplicate, whatever its id. A string key for each,
-- which the server lets expire, names the item that entered first: `seen = entered " " id`. One that was removed meanwhile
-- doesn't count, nor another that has its id by now.
local window, first_of = queue.rules.dedupe_seconds * 1000000, {}
if window > 0 then
  local names = {}
  for i, item in ipairs(sent) do
    if not item.digest then return { 'digests' } end
    names[i] = keys.seen .. ':' .. item.digest
  end
  for i, seen in ipairs(redis.call('MGET', unpack(names))) do
    local entered, id = string.match(seen or '', '^(%d+) (.*)$')
    local there = entered and queue.now - entered < window and items.read(id)
    if there and there.enqueued == string.format('%011x', entered / 1000) then first_of[sent[i].digest] = id end
  end
end

-- Decide which enter.
local entered, enqueued = stamp(queue.now), string.format('%011x', queue.now / 1000)
local ids, entering, payloads, twin, deduped, differing = {}, {}, {}, '', 0, nil
for i, item in ipairs(sent) do ids[i] = item.id end
local known = redis.call('HMGET', keys.items, unpack(ids))
for i, item in ipairs(sent) do
  local there = known[i] and string.match(known[i], '\n(.*)$') or payloads[item.id]
  if there and there ~= item.payload then
    differing = differing or {}
    differing[#differing + 1] = i
  end
  local first = first_of[item.digest]
  if not there and not added_before and first then
    deduped = deduped + 1
    if i == 1 then twin = first end
  elseif not there and not added_before then
    if window > 0 then first_of[item.digest] = item.id end
    payloads[item.id] = item.payload
    entering[#entering + 1] = item
  end
end

-- Where they go: the shelf or `scheduled`, and the score there.
local places_of, records, dues, wanted, plain_shelf = {}, {}, {}, {}, shelves.band(nil)
for i, item in ipairs(entering) do
  local score, key, extra = queue.now + i - 1, keys.scheduled, item.head
  local timed, wait
  if extra ~= '' then timed, wait = string.match(extra, ' z(@?)(%d+)') end
  if wait then extra = string.gsub(extra, ' z@?%d+', '') end
  if wait and (timed == '' or wait + 0 > score) then
    score = timed == '' and score + wait or wait + 0
    queue.expect(score)
  else
    local row, shelf = '', plain_shelf
    if extra ~= '' then
      row = string.gsub(string.match(extra, ' r(%S+)') or '', ',', '+')
      shelf = shelves.band(string.match(extra, ' p(%d+)'))
    end
    if shelf ~= 'normal' then extra = extra .. ' s' .. shelf end
    key = shelves.key(row, shelf)
    places_of[key] = places_of[key] or { row = row, shelf = shelf }
    if row ~= '' then wanted[row] = true end
  end
  local place = places_of[key] or {}
  places_of[key] = place
  place[#place + 1], place[#place + 2] = stamp(score), item.id
  records[#records + 1], records[#records + 2] = item.id, enqueued .. extra .. '\n' .. item.payload
  local due = extra ~= '' and string.match(extra, ' d(%d+)')
  if due then dues[#dues + 1], dues[#dues + 2] = due, item.id end
end
if next(wanted) and rows.too_many(wanted) then return { 'rows', rows.MOST } end

-- Write.
local past, count = ' ' .. table.concat(remembered, ' '), added_before or #entering
if deduped > 0 and not is_repeated then redis.call('HINCRBY', keys.ledger, 'n:deduped', deduped) end
if entering[1] then
  local waiting, names = 0, {}
  if window > 0 then
    for _, item in ipairs(entering) do
      redis.call('SET', keys.seen .. ':' .. item.digest, entered .. ' ' .. item.id, 'PX', math.ceil(window / 1000))
    end
  end
  for key, place in pairs(places_of) do
    redis.call('ZADD', key, unpack(place))
    if place.shelf then
      shelves.open(place.row, place.shelf)
      waiting = waiting + #place / 2
    end
  end
  if dues[1] then redis.call('ZADD', keys.due, unpack(dues)) end
  redis.call('HSET', keys.items, unpack(records))
  for i, item in ipairs(entering) do names[i] = item.id end
  redis.call('XADD', keys.journal, 'MAXLEN', '~', journal.MOST, entered, 'enqueued', table.concat(names, '\t'))
  queue.now = queue.now + #entering - 1
  queue.save()
  redis.call('HINCRBY', keys.ledger, 'n:enqueued', count)
  redis.call('HSET', keys.ledger, 'request', request .. ' ' .. count .. past)
  if queue.mode ~= 'paused' and redis.call('HEXISTS', keys.ledger, 'line') == 1 then
    line.wake(math.min(waiting, line.MOST_WOKEN))
  end
elseif deduped > 0 or chosen and not added_before and not differing then
  redis.call('HSET', keys.ledger, 'request', request .. ' 0' .. past)
end
if differing then return { 'ok', count, window > 0 and twin, differing } end
-- equivalent mutant: bound: the caller then sends digests for nothing
return { 'ok', count, window > 0 and twin or nil }
