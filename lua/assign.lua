#!lua flags=allow-oom
--[[ Makes an item one person's: only they may reserve it, until they give it back. It waits ahead of what
never left. An item that is scheduled goes to them when it is due.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:late   11 leaseq:{q}:drafts
ARGV   1 the time in microseconds, or ''   2 id   3 by whom, or ''   4 the person
REPLY  {'item', the item}   {'no-item'}   {'wrong-state', the item}: no assignment of it waits
       {'answered', the item}: they answered it, or hold it   {'rows', how many rows may wait at once}
       {'no-queue'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, JOURNAL, HISTORY, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local id, person = ARGV[2], ARGV[4]
local status, holdings = unpack(call('HMGET', LEDGER, 'status', 'p:' .. person))
if not status then return { 'no-queue' } end
--- @include ledger
--- @include now
--- @include save
--- @include assignments
--- @include shelves
--- @include item
--- @include place
--- @include where
--- @include describe
--- @include bars
--- @include put_off
--- @include may_answer
--- @include manager
if not read_item(id) then return { 'no-item' } end
local whom = string.gsub(person, ' ', '\a')
local chosen, set, mine
for _, member in ipairs(assignments(id)) do
  local item = read_item(member)
  local state, _, key = where(item)
  if item.o == whom and state ~= 'finished' and state ~= 'dead' then mine = true end
  if state == 'inbound' or state == 'scheduled' then
    if not chosen or chosen.o and not item.o then chosen, set = item, key end
  end
end
if mine then return { 'item', describe(id) } end
if not may_answer(id, person, holdings) then return { 'answered', describe(id) } end
if not chosen then return { 'wrong-state', describe(id) } end
if full_of_rows({ ['@' .. person] = true }) then return { 'rows', MOST_ROWS } end
local before = bar_of(call('HGET', BARS, id), person)
local bars = set_bar(id, person, nil)
if not string.find(bars, '\t@' .. person .. '\t', 1, true) then
  call('HSET', BARS, id, bars .. '@' .. person .. '\t')
end
if before == '-' then -- they looked past what else waits of it
  local looked = '\n' .. (call('HGET', CURSORS, person) or '')
  for _, member in ipairs(assignments(id)) do
    local item = read_item(member)
    local row = row_of(item)
    if where(item) == 'inbound' and string.find(looked, '\n' .. row .. ':' .. (item.s or 'normal') .. '\t', 1, true) then
      call('ZADD', later_key(row, person), 'NX', at, member)
    end
  end
end
chosen.o = whom
if set == SCHEDULED then
  write_item(chosen)
else
  place(chosen, true, now)
  call('ZREM', set, chosen.id)
end
call('HINCRBY', LEDGER, 'n:assigned', 1)
moved('assigned', id, '', ARGV[3], person)
return { 'item', describe(id) }
