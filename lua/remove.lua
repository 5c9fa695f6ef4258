#!lua flags=allow-oom
--[[ Forgets an item whole, whatever its state: record, answer, drafts, history.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:late   11 leaseq:{q}:drafts
ARGV   1 the time in microseconds, or ''   2 id   3 by whom, or ''
REPLY  {'ok'}   {'no-item'}   {'no-queue'} ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, SCHEDULED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEAD, FINISHED, JOURNAL, HISTORY, LATE = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local DRAFTS = KEYS[11]
local id = ARGV[2]
local status = call('HGET', LEDGER, 'status')
if not status then return { 'no-queue' } end
--- @include ledger
--- @include now
--- @include save
--- @include assignments
--- @include shelves
--- @include item
--- @include grant
--- @include where
--- @include held
--- @include drop_drafts
--- @include bars
--- @include due
--- @include forget
--- @include manager
if not read_item(id) then return { 'no-item' } end
local token = forget(id)
moved('removed', id, token, ARGV[3])
return { 'ok' }
