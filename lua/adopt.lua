#!lua flags=allow-oom
--[[ Makes a late answer an answer of the item: of the assignment that it was given for; where that is held or
answered by somebody else, of another one that waits. Where none does, who holds it loses the lease, and an
answer that it had is a late answer from then on, so that it can be seen and taken again.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:late   11 leaseq:{q}:drafts
ARGV   1 the time in microseconds, or ''   2 id   3 the late answer's token   4 by whom, or ''
       5 request id
REPLY  {'item', the item}   {'no-answer', the item}   {'answered', the item}: that person answered
       another one of its assignments, or holds it   {'no-item'}   {'no-queue'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, JOURNAL, HISTORY, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local DRAFTS = KEYS[11]
local id, wanted, request = ARGV[2], ARGV[3], ARGV[5]
local status = call('HGET', LEDGER, 'status')
if not status then return { 'no-queue' } end
--- @include ledger
--- @include now
--- @include save
--- @include note
--- @include assignments
--- @include shelves
--- @include item
--- @include grant
--- @include where
--- @include held
--- @include end_grant
--- @include bars
--- @include draft
--- @include drop_drafts
--- @include due
--- @include place
--- @include taken_before
--- @include following
--- @include free_assignment
--- @include answered
--- @include describe
--- @include past
--- @include pick
if not read_item(id) then return { 'no-item' } end
local text, answers_left = pick(call('HGET', LATE, id), wanted)
local claim = text and string.match(text, '^%d+\t[^\t]*\t') or wanted .. '\t'
local from = past_of(id, claim) or id
local grant = call('HGET', LEDGER, 'g:' .. from)
if grant and mark_of(grant, 'a') and mark_of(grant, 'q') == request then return { 'item', describe(id) } end
if not text then
  local adopted = grant and string.match(grant, '^%d+') == wanted and ending_of(grant) == 'finished'
  return { adopted and 'item' or 'no-answer', describe(id) }
end
local person, given = string.match(claim, '\t([^\t]*)\t'), string.match(text, '\t(%d+)\n') -- by whom, and when
for _, other in ipairs(assignments(id)) do
  local theirs = other ~= from and call('HGET', LEDGER, 'g:' .. other)
  local counts = theirs and (is_held(theirs) or ending_of(theirs) == 'finished')
  if counts and string.match(theirs, '\t([^\t]*)\t') == person then
    return { 'answered', describe(id) }
  end
end

local counts = is_held(grant) or ending_of(grant) == 'finished'
local member = counts and string.match(grant, '\t([^\t]*)\t') ~= person and free_assignment(id, person) or from
local item = read_item(member)
local state, _, set = where(item)
local moves = member ~= from
if moves then
  taken_before(item, id, person)
  following(item)
  now = now + 1 -- no entry after this one may have its score
  at = string.format('%.0f', now)
elseif is_held(grant) then
  local token = end_grant(item, grant, 'released ' .. at)
  write_item(item)
  count('released')
  note('released', id .. '\t' .. token .. '\t' .. ARGV[4])
  grant = call('HGET', LEDGER, 'g:' .. member)
end
local past, history = pick(call('HGET', HISTORY, from), wanted)
if string.match(grant, '^%d+') == wanted then
  past = grant
elseif not moves then
  history[#history + 1] = grant
end
if not past then -- its history got too long to keep that far back
  past = claim .. given .. ' ' .. lease_seconds .. ' 1'
end
local replaced_at, replaced = string.match(grant, '\nfinished (%d+) %d\n(.*)$')
if replaced and not moves then
  answers_left[#answers_left + 1] = string.match(grant, '^%d+\t[^\t]*\t') .. replaced_at .. '\n' .. replaced
end
call('ZADD', FINISHED, at, member)
local line = with_marks(past, { m = moves and '' or nil, a = '', q = request })
call('HSET', LEDGER, 'g:' .. member,
  line .. '\nfinished ' .. given .. ' 1\n' .. string.match(text, '\n(.*)$'))
answered(member, person, set)
if state ~= 'finished' then
  call('ZREM', set, member)
  finished = finished + 1
  note('finished', id .. '\t' .. wanted .. '\t' .. person)
end
if moves then
  local left = read_item(from)
  left.a = math.max(left.a or 0, string.match(line, '^%d+\t[^\t]*\t%d+ %S+ (%d+)') + 0)
  write_item(left)
end
keep_blocks(HISTORY, from, table.concat(history, '\n\n'))
keep_blocks(LATE, id, table.concat(answers_left, '\n\n'))
note('adopted', id .. '\t' .. wanted .. '\t' .. ARGV[4])
tell()
return { 'item', describe(id) }
