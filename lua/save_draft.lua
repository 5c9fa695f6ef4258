#!lua flags=allow-oom
--[[ Keeps what a person has so far. Taken while theirs is the latest grant and it was not ended on
purpose, so also after the lease ran out: what was typed is not lost.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:history
       9 leaseq:{q}:drafts   10 leaseq:{q}:late
ARGV   1 the time in microseconds, or ''   2 id   3 token   4 person   5 draft
REPLY  {'ok'}   {'lost', 0, the item}   {'no-item'}   {'no-queue'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, HISTORY, DRAFTS, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local id, person = ARGV[2], ARGV[4]
local status = call('HGET', LEDGER, 'status')
if not status then return { 'no-queue' } end
--- @include ledger
--- @include assignments
--- @include shelves
--- @include item
--- @include grant
--- @include where
--- @include describe
--- @include lost
local claim = ARGV[3] .. '\t' .. person .. '\t'
local member, grant = assignment_of(id, claim)
local ended = grant and ending_of(grant)
if not claims(grant, claim) or (ended and ended ~= 'expired') then return lost(id) end
local others = {}
for other in string.gmatch(call('HGET', DRAFTS, id) or '', '[^\t]+') do
  if other ~= person then others[#others + 1] = other end
end
others[#others + 1] = person
call('HSET', DRAFTS, id .. '\t' .. person, ARGV[5], id, table.concat(others, '\t'))
if not has_draft(grant) then
  call('HSET', LEDGER, 'g:' .. member, with_marks(grant, { w = '' }) .. string.match(grant, '^[^\n]*(.*)$'))
  if ended then
    local item = read_item(member)
    item.w = ''
    write_item(item)
  end
end
return { 'ok' }
