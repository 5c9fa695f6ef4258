#!lua flags=allow-oom
--[[ Gives a person one item that nobody else has.

KEYS   1 leaseq:{q}:ledger     2 leaseq:{q}:items  3 leaseq:{q}:inbound (the base of the row)
       4 leaseq:{q}:reserved   5 leaseq:{q}:scheduled  6 leaseq:{q}:dead    7 leaseq:{q}:journal
       8 leaseq:{q}:history    9 leaseq:{q}:drafts
ARGV   1 the time in microseconds, or '' for the server's   2 person   3 request id
REPLY  {'leased', id, grant, record, draft or nil}   {'nothing'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, JOURNAL, HISTORY, DRAFTS = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local person, request = ARGV[2], ARGV[3]
local clock, skew, token, shelves, soonest, lease_seconds, holds, paused, holdings = unpack(call('HMGET',
  LEDGER, 'clock', 'skew', 'token', 'shelves', 'soonest', 'lease_seconds', 'holds', 'paused', 'p:' .. person))
if not lease_seconds then return { 'nothing' } end
--- @include now
local changes, events = { 'clock', at }, {}
--- @include take
return reply or { 'nothing' }
