#!lua flags=no-writes
--[[ One step through the rows in which items wait, in no order: how many wait in each.

KEYS   1 leaseq:{q}:ledger   2 leaseq:{q}:inbound   and, if the queue has them, its other shelves and its rows
ARGV   1 the time (not used)   2 where the step begins: what the last step returned, or 0
       3 about how many rows to look at
REPLY  {'counts', where the next step begins (0: there is none), {row, how many wait in it}, …}: a row may be in
       two steps; its name is that of lib/shelves.lua, '' for the plain row
       {'no-queue'} ]]
local from, count = ARGV[2], ARGV[3]
--- @include shelves
local refusal = queue.open(true)
if refusal then return refusal end
local step = queue.mode ~= 'open' and redis.call('HSCAN', keys.rows, from, 'COUNT', count) or { '0', {} }
local reply, fields = { 'counts', step[1] }, step[2]
if from == '0' then fields[#fields + 1], fields[#fields + 2] = '', queue.shelves end
for i = 1, #fields, 2 do
  local waiting_count = 0
  for shelf in string.gmatch(fields[i + 1], '%S+') do
    waiting_count = waiting_count + redis.call('ZCARD', shelves.key(fields[i], shelf))
  end
  if waiting_count > 0 then reply[#reply + 1] = { fields[i], waiting_count } end
end
return reply
