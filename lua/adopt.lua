#!lua flags=allow-oom
--[[ Makes a late answer the item's answer. The item is finished then; who holds it loses the lease; an
answer that it had is a late answer from then on, so that it can be seen and taken again.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:late   11 leaseq:{q}:drafts
ARGV   1 the time in microseconds, or ''   2 id   3 the late answer's token   4 by whom, or ''
       5 request id
REPLY  {'item', the item}   {'no-answer', the item}   {'no-item'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, JOURNAL, HISTORY, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local DRAFTS = KEYS[11]
local id, wanted, request = ARGV[2], ARGV[3], ARGV[5]
local status, grant = unpack(call('HMGET', LEDGER, 'status', 'g:' .. id))
if not status then return { 'no-item' } end
--- @include ledger
--- @include now
--- @include save
--- @include shelves
--- @include item
--- @include grant
--- @include where
--- @include held
--- @include end_grant
--- @include drop_drafts
--- @include describe
--- @include manager
local item = read_item(id)
if not item then return { 'no-item' } end

-- Splits blocks with a blank line between; the latest one that begins with the token apart from the
-- others.
local function pick(text)
  local picked, blocks = nil, {}
  for block in string.gmatch((text or '') .. '\n\n', '(.-)\n\n') do
    if block ~= '' then
      blocks[#blocks + 1] = block
      if string.match(block, '^%d+') == wanted then picked = #blocks end
    end
  end
  return picked and table.remove(blocks, picked), blocks
end

local function keep(key, blocks)
  if blocks[1] then
    call('HSET', key, id, table.concat(blocks, '\n\n'))
  else
    call('HDEL', key, id)
  end
end

-- A grant's line up to its marks, and the marks: `q` there names the adoption that made it the answer.
local LINE = '^(%d+\t[^\t]*\t%d+ %S+ %d+)([^\n]*)'
local marks = grant and select(2, string.match(grant, LINE))
if marks and string.match(marks, ' q(%S+)') == request then return { 'item', describe(id) } end
local answer, answers = pick(call('HGET', LATE, id))
if not answer then
  local adopted = grant and string.match(grant, '^%d+') == wanted and ending_of(grant) == 'finished'
  return { adopted and 'item' or 'no-answer', describe(id) }
end
local state, _, set = where(item)
if is_held(grant) then
  end_grant(item, grant, 'released ' .. at)
  write_item(item)
  count('released')
  grant = call('HGET', LEDGER, 'g:' .. id)
end
local past, history = pick(call('HGET', HISTORY, id))
if string.match(grant, '^%d+') == wanted then past = grant else history[#history + 1] = grant end
local replaced_at, replaced = string.match(grant, '\nfinished (%d+) %d\n(.*)$')
if replaced then
  answers[#answers + 1] = string.match(grant, '^%d+\t[^\t]*\t') .. replaced_at .. '\n' .. replaced
end
local result = string.match(answer, '\n(.*)$')
call('ZADD', FINISHED, at, id)
call('HSET', LEDGER, 'g:' .. id,
  string.match(past, LINE) .. ' q' .. request .. '\nfinished ' .. at .. ' 1\n' .. result)
if state ~= 'finished' then
  call('ZREM', set, id)
  finished = finished + 1
end
keep(HISTORY, history)
keep(LATE, answers)
drop_drafts(id)
moved('adopted', id, wanted, ARGV[4])
return { 'item', describe(id) }
