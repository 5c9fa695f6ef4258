#!lua flags=no-writes
--[[ What a stretch of the journal has of one item, the oldest first.

KEYS   1 leaseq:{q}:journal
ARGV   1 the time (not used)   2 the entry to begin with   3 how many entries to look at   4 id
REPLY  {'story', the entry to go on with ('' at the end), {entry id, {what, value, …}}, …} ]]
local id, reply = ARGV[4], { 'story', '' }
local entries = redis.call('XRANGE', KEYS[1], ARGV[2], '+', 'COUNT', ARGV[3] + 1)
for i, entry in ipairs(entries) do
  if i > ARGV[3] + 0 then
    reply[2] = entry[1]
    break
  end
  for j = 2, #entry[2], 2 do
    if string.find('\t' .. entry[2][j] .. '\t', '\t' .. id .. '\t', 1, true) then
      reply[#reply + 1] = entry
      break
    end
  end
end
return reply
