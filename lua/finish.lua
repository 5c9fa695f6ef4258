#!lua flags=allow-oom
--[[ Takes an item's answer from its holder; with a request id, also gives them the next item. A lease
that ran out still counts while nobody else was granted the item since. An answer that is refused is
kept.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:reserved  3 leaseq:{q}:journal  4 leaseq:{q}:finished
       and, where the next item is asked for or the caller is not the holder now, the keys of
       includes/row_keys.lua and includes/other_keys.lua
ARGV   1 the time in microseconds, or ''   2 id   3 token   4 person   5 result
       6 the version of the form that the result was checked against, or '-'
       7 the request id of the reserve that is to follow; left out where none is   8 the skills as for
       reserve
REPLY  {'finished', late 0|1, replayed 0|1, the microseconds from the grant to the finish, when that was,
       the next lease as `reserve` gives it or {'nothing'} or {'more'}}
       {'form'}: the queue's form is another one: check again   {'lost', kept 0|1, the item}   {'no-item'}
       {'no-queue'} ]]
local call = redis.call
local LEDGER, RESERVED, JOURNAL, FINISHED = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, person, result, request, skills = ARGV[2], ARGV[4], ARGV[5], ARGV[7], ARGV[8]
local item = id -- from here on, `id` is the assignment
local claim = ARGV[3] .. '\t' .. person .. '\t'
local status, grant, holdings = unpack(call('HMGET', LEDGER, 'status', 'g:' .. id,
  'p:' .. person))
if not status then return { 'no-queue' } end
--- @include status
--- @include now

local late, replayed, source = false, false, RESERVED
if open ~= 'open' and holdings and not (grant and string.sub(grant, 1, #claim) == claim) then
  local _, mark = string.find(holdings, '\t' .. item .. '\a', 1, true)
  if mark then
    id = item .. '\a' .. string.match(holdings, '^%d+', mark + 1)
    grant = call('HGET', LEDGER, 'g:' .. id)
  end
end
local granted, marks
if grant and string.sub(grant, 1, #claim) == claim then
  granted, marks = string.match(grant, '^(%d+) %S+ %d+([^\n]*)$', #claim + 1)
end
if not granted then
  --- @include finish_after
  granted, marks = string.match(grant, '^(%d+) %S+ %d+([^\n]*)', #claim + 1)
elseif #at ~= #soonest or at >= soonest then
  --- @include grant
  late = now >= expiry_of(grant)
end

local done, whom
if not replayed then
  if ARGV[6] ~= form_version then return { 'form' } end
  if open ~= 'open' or (marks ~= '' and string.find(marks, ' [wd]')) then
    --- @include row_keys
    --- @include other_keys
    --- @include assignments
    --- @include bars
    --- @include drop_drafts
    --- @include due
    --- @include answered
    answered(id, person, source)
  end
  local first, last = string.find(holdings, '\t' .. id .. '\t', 1, true)
  if first then
    holdings = string.sub(holdings, 1, first) .. (last < #holdings and string.sub(holdings, last + 1) or '')
  end
  finished = string.format('%d', finished + 1) -- at half the cost of what '..' makes of a number
  done = grant .. '\nfinished ' .. at .. (late and ' 1\n' or ' 0\n') .. result
  whom = item .. '\t' .. ARGV[3] .. '\t' .. person
  call('ZADD', FINISHED, at, id)
  call('ZREM', source, id)
end
local ended = replayed and string.match(grant, '\nfinished (%d+)') + 0 or now
local lasted = ended - granted
if request then
  local waiter, woken -- nobody: a finish does not wait
  --- @include row_keys
  --- @include take
  return { 'finished', late and 1 or 0, replayed and 1 or 0, lasted, ended, reply or { 'nothing' } }
end
if done then
  --- @include write_finish
end
return { 'finished', late and 1 or 0, replayed and 1 or 0, lasted, ended }
