#!lua flags=no-writes
--[[ The leases that a person holds, the oldest first.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:items  3 leaseq:{q}:drafts
ARGV   1 the time in microseconds, or ''   2 person
REPLY  {'leases', {id, grant, record, draft or nil}, …}   {'no-queue'} ]]
local call = redis.call
local LEDGER, ITEMS, DRAFTS = KEYS[1], KEYS[2], KEYS[3]
local person = ARGV[2]
local status, holdings = unpack(call('HMGET', LEDGER, 'status', 'p:' .. person))
if not status then return { 'no-queue' } end
--- @include ledger
--- @include queue_time
--- @include assignments
--- @include grant
--- @include draft
local reply = { 'leases' }
for id in string.gmatch(holdings or '', '\t([^\t]+)') do
  local grant = call('HGET', LEDGER, 'g:' .. id)
  if expiry_of(grant) > now then
    local item = item_of(id)
    local draft = has_draft(grant) and draft_for(item, person)
    reply[#reply + 1] = { item, grant, payload_of(id, call('HGET', ITEMS, id)), draft }
  end
end
return reply
