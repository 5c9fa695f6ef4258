#!lua
--[[ Adds items, one or many. An id that the queue already has is left as it is. Refused when memory
is full: what is in the queue must still have room to be worked.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:items  3 leaseq:{q}:inbound  4 leaseq:{q}:scheduled
       5 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''   2 request id
       then for each item: id, its head beyond the time (see includes/item.lua, with z<delay in
       microseconds>), payload
REPLY  {'ok', how many were added}   {'no-queue'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, SCHEDULED, JOURNAL = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local request = ARGV[2]
local tick, row, rules, enqueued, last = unpack(call('HMGET', LEDGER, 'tick', 'row', 'rules', 'n:enqueued',
  'request'))
if not tick then return { 'no-queue' } end
--- @include ledger
--- @include now
--- @include save
--- @include shelves
--- @include soonest
--- @include journal_size
-- A lost reply: the same request again gets the count that it got.
local same, before = string.match(last or '', '^(%S+) (%d+)$')
if same == request then return { 'ok', tonumber(before) } end

local known
do
  local ids = {}
  for i = 3, #ARGV, 3 do ids[#ids + 1] = ARGV[i] end
  known = call('HMGET', ITEMS, unpack(ids))
end

local rows, records, added = {}, {}, {}
local seen, plain = {}, nil
local function entries_of(key)
  rows[key] = rows[key] or {}
  return rows[key]
end
for i = 3, #ARGV, 3 do
  local id, extra = ARGV[i], ARGV[i + 1]
  if not known[i / 3] and not seen[id] then
    seen[id] = true
    local time = string.format('%.0f', now)
    local key, score
    if extra == '' then
      plain = plain or band_of()
      key, score = plain, time
    else
      local delay = string.match(extra, ' z(%d+)')
      key, score = band_of(string.match(extra, ' p(%d+)')), time
      if delay then
        extra = string.gsub(extra, ' z%d+', '')
        key, score = '', string.format('%.0f', now + delay)
        expect(now + delay)
      end
    end
    if key ~= '' and key ~= 'normal' then extra = extra .. ' s' .. key end
    local entries, n = entries_of(key), #records
    entries[#entries + 1] = score
    entries[#entries + 1] = id
    records[n + 1] = id
    records[n + 2] = time .. extra .. '\n' .. ARGV[i + 2]
    added[#added + 1] = id
    now = now + 1
  end
end

if added[1] then
  call('HSET', ITEMS, unpack(records))
  for name, entries in pairs(rows) do
    if name == '' then
      call('ZADD', SCHEDULED, unpack(entries))
    else
      call('ZADD', shelf_key(name), unpack(entries))
      open_shelf(name)
    end
  end
  call('XADD', JOURNAL, 'MAXLEN', '~', JOURNAL_ENTRIES, at, 'enqueued', table.concat(added, '\t'))
  at = string.format('%.0f', now - 1)
  save_tick()
  call('HSET', LEDGER, 'n:enqueued', (enqueued or 0) + #added, 'request', request .. ' ' .. #added)
end
return { 'ok', #added }
