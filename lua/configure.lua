#!lua
--[[ Writes policy fields, and makes the queue where there is none (all fields must be given then).
Where nothing is new, nothing is written.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:journal
ARGV   1 the time in microseconds, or ''   2 by whom, or ''   3 'create': only where there is no queue
       yet, else ''   then a field, its value, …: a number is the place among the words of `rules`
       (see includes/ledger.lua), a name is a field of the ledger of its own, with its JSON
REPLY  {'ok', made 0|1} ]]
local call = redis.call
local LEDGER, JOURNAL = KEYS[1], KEYS[2]
local tick, row, rules = unpack(call('HMGET', LEDGER, 'tick', 'row', 'rules'))
local made = not rules
if not made and ARGV[3] == 'create' then return { 'ok', 0 } end
if made then tick, row, rules = '0 0 0 0', '9007199254740991 ', 'open' .. string.rep(' -', 10) end
--- @include ledger
--- @include now
--- @include save
local words = {}
for word in string.gmatch(rules, '%S+') do words[#words + 1] = word end
local changed = made
for i = 4, #ARGV, 2 do
  local name, value = ARGV[i], ARGV[i + 1]
  local place = tonumber(name)
  if place then
    changed = changed or words[place] ~= value
    words[place] = value
  elseif call('HGET', LEDGER, name) ~= value then
    changed = true
    call('HSET', LEDGER, name, value)
  end
end
if not changed then return { 'ok', 0 } end
call('HSET', LEDGER, 'rules', table.concat(words, ' '))
save_row()
save_tick()
call('XADD', JOURNAL, at, made and 'created' or 'configured', '\t\t' .. ARGV[2] .. '\t')
return { 'ok', made and 1 or 0 }
