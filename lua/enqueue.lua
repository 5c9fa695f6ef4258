#!lua
--[[ Adds items, one or many. An id that the queue already has is left as it is. Refused when memory
is full: what is in the queue must still have room to be worked.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:items  3 leaseq:{q}:inbound  4 leaseq:{q}:scheduled
       5 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''   2 request id; one that the caller chose is followed by \a, the
       number of the chunk, \a, and a digest of what the call adds
       then for each item: id, its head beyond the time (see includes/item.lua, with z<delay in
       microseconds>; before it, where the policy has dedupe_seconds, the payload's digest), payload
REPLY  {'ok', how many were added; with dedupe_seconds also the id of the item that has the first one's
       payload, or '' (nil without); where there are any, the places (from 1) of items whose id is there
       with another text as its payload}   {'digests'}: send them   {'no-queue'}
       {'reused'}: this request id was used for something else
       {'rows', how many sets of skills may wait at once} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, SCHEDULED, JOURNAL = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local request = ARGV[2]
local status, enqueued, last, waited_for = unpack(call('HMGET', LEDGER, 'status', 'n:enqueued', 'request',
  'line'))
if not status then return { 'no-queue' } end
--- @include ledger
--- @include now
--- @include save
--- @include shelves
--- @include soonest
--- @include journal_size
--- @include due
-- A lost reply: the same request again gets the count that it got. Some are remembered, for others may
-- have enqueued meanwhile.
local remembered, window, counted, before_added = {}, dedupe_seconds * 1000000, false, nil
local chosen = string.match(request, '^.*\a')
for same, before in string.gmatch(last or '', '(%S+) (%d+)') do
  if same == request then
    counted = true -- where nothing entered, who has the payload is looked up again
    if before ~= '0' then before_added = before + 0 end
  elseif chosen and string.sub(same, 1, #chosen) == chosen then
    return { 'reused' }
  elseif #remembered < 15 then
    remembered[#remembered + 1] = same .. ' ' .. before
  end
end

local digests, twins, fresh = {}, {}, {}
if window > 0 then
  --- @include payloads_seen
end

local known
do
  local ids = {}
  for i = 3, #ARGV, 3 do ids[#ids + 1] = ARGV[i] end
  known = call('HMGET', ITEMS, unpack(ids))
end

-- Where an item goes, with what its head says of that: row and shelf with a tab between (or
-- 'scheduled'), and the score there.
local function place_of(extra, time)
  local delay = string.match(extra, ' z(%d+)')
  if delay then
    expect(now + delay)
    return 'scheduled', string.format('%.0f', now + delay), (string.gsub(extra, ' z%d+', ''))
  end
  local band = band_of(string.match(extra, ' p(%d+)'))
  local row = string.gsub(string.match(extra, ' r(%S+)') or '', ',', '+')
  return row .. '\t' .. band, time, band == 'normal' and extra or extra .. ' s' .. band
end

local entries, records, added, seen, dues, deduped, twin, differing = {}, {}, {}, {}, {}, 0, '', nil
local entered, enqueued_at = string.format('%.0f', now), string.format('%011x', now / 1000)
local plain_set, _, plain_extra = place_of('', '')
for i = 3, #ARGV, 3 do
  local id, set, score, extra = ARGV[i], plain_set, string.format('%.0f', now), plain_extra
  local digest, head, there = digests[i], ARGV[i + 1], known[i / 3] or seen[id]
  local enters = not there and not before_added
  if there and string.sub(there, string.find(there, '\n', 1, true) + 1) ~= ARGV[i + 2] then
    differing = differing or {}
    differing[#differing + 1] = i / 3
  end
  if enters and twins[digest or ''] then
    enters, deduped = false, deduped + 1
    if i == 3 then twin = twins[digest] end
  end
  if enters then
    if head ~= '' then head = string.match(head, '^%x*(.*)$') end
    if digest then
      twins[digest] = id
      fresh[#fresh + 1] = { digest, entered .. ' ' .. id } -- the time that the item's head has
    end
    local due = string.match(head, ' d(%d+)')
    if due then
      dues[#dues + 1] = due
      dues[#dues + 1] = id
    end
    if head ~= '' then set, score, extra = place_of(head, score) end
    local list = entries[set] or {}
    entries[set] = list
    list[#list + 1] = score
    list[#list + 1] = id
    records[#records + 1] = id
    seen[id] = enqueued_at .. extra .. '\n' .. ARGV[i + 2]
    records[#records + 1] = seen[id]
    added[#added + 1] = id
    now = now + 1
  end
end

local rows = {}
for set in pairs(entries) do
  local row = string.match(set, '^(.+)\t')
  if row then rows[row] = true end
end
if next(rows) and full_of_rows(rows) then return { 'rows', MOST_ROWS } end
local at_once = 0
local past = ' ' .. table.concat(remembered, ' ')
if added[1] then
  for _, one in ipairs(fresh) do call('SET', one[1], one[2], 'PX', math.ceil(window / 1000)) end
  for set, list in pairs(entries) do
    if set == 'scheduled' then
      call('ZADD', SCHEDULED, unpack(list))
    else
      local row, shelf = string.match(set, '^(.*)\t(.*)$')
      call('ZADD', shelf_key(row, shelf), unpack(list))
      open_shelf(row, shelf)
      at_once = at_once + #list / 2
    end
  end
  if dues[1] then call('ZADD', DUE, unpack(dues)) end
  call('HSET', ITEMS, unpack(records))
  call('XADD', JOURNAL, 'MAXLEN', '~', JOURNAL_MOST, at, 'enqueued', table.concat(added, '\t'))
  at = string.format('%.0f', now - 1)
  save()
  if waited_for and open ~= 'paused' then
    --- @include line
    wake(math.min(at_once, MOST_WOKEN))
  end
  call('HSET', LEDGER, 'n:enqueued', (enqueued or 0) + #added, 'request', request .. ' ' .. #added .. past)
elseif deduped > 0 or chosen and not before_added and not differing then
  call('HSET', LEDGER, 'request', request .. ' 0' .. past)
end
if deduped > 0 and not counted then call('HINCRBY', LEDGER, 'n:deduped', deduped) end
local count = before_added or #added
if differing then return { 'ok', count, window > 0 and twin, differing } end
return { 'ok', count, window > 0 and twin or nil }
