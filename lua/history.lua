#!lua flags=no-writes
--[[ The entries about one item in a part of the journal, oldest first.

KEYS   1 leaseq:{q}:journal
ARGV   1 the time (not used)   2 the entry to begin with   3 how many entries to scan, at most   4 id
REPLY  {'history', how many were scanned: fewer if they are large; the entry to continue from ('' at the end),
       {entry id, {what, value, …}}, …} ]]
local start, remaining, id = ARGV[2], ARGV[3] + 0, ARGV[4]
local STEP, remaining_bytes = 25, 300000 -- bytes to scan: large imports write large entries
local reply = { 'history', 0, '' }

local function mentions_item(fields)
  for i = 2, #fields, 2 do
    remaining_bytes = remaining_bytes - #fields[i]
    local value = fields[i]
    if string.find(value, id, 1, true) and string.find('\t' .. value .. '\t', '\t' .. id .. '\t', 1, true) then
      return true
    end
  end
end

while start and remaining > 0 and remaining_bytes > 0 do
  local step = math.min(STEP, remaining)
  local entries = redis.call('XRANGE', KEYS[1], start, '+', 'COUNT', step + 1)
  for i = 1, math.min(step, #entries) do
    if mentions_item(entries[i][2]) then reply[#reply + 1] = entries[i] end
  end
  remaining, reply[2] = remaining - step, reply[2] + step
  start = entries[step + 1] and entries[step + 1][1]
end
reply[3] = start or ''
return reply
