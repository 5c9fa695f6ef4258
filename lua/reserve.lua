#!lua flags=allow-oom
--[[ Gives a person one item that nobody else has.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items  3 leaseq:{q}:inbound (the base of the row)
       4 leaseq:{q}:reserved  5 leaseq:{q}:journal
       and, where a lease ran out or the item was held before, the keys of includes/other_keys.lua
ARGV   1 the time in microseconds, or '' for the server's   2 person   3 request id
       4 the person's skills, sorted, with commas between; left out where there are none
       5 who waits for it, 6 whether they were woken, 0 or 1; both left out where nobody does
REPLY  {'leased', id, grant, record, draft or nil}
       {'nothing', in how many microseconds a waiter is to look again or '', the queue's last token}
       {'nothing'}: there is no queue
       {'more'}: there is more to look at than fits one call; ask again ]]
local call = redis.call
local LEDGER, ITEMS, INBOUND, RESERVED, JOURNAL = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local person, request, skills, waiter, woken = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local status, holdings = unpack(call('HMGET', LEDGER, 'status', 'p:' .. person))
if not status then return { 'nothing' } end
--- @include status
--- @include now
if waiter and woken == '0' then
  --- @include wait_turn
end
local done, whom, id
--- @include take
if waiter then
  --- @include wait
end
return reply or { 'nothing', '', token }
