-- dedupe_seconds: an equal payload that entered within the window is a duplicate, whatever its id. The
-- caller sends a digest of each. A string key for each (`seen:<digest>`: time, a space, id), which the
-- server lets expire, names the item that entered first. One that was removed meanwhile doesn't count,
-- nor another that has its id by now.
-- Needs: window. Sets: digests, the key for each place in ARGV, and twins: that key's item.
local keys = {}
for i = 3, #ARGV, 3 do
  local digest = string.match(ARGV[i + 1], '^%x+')
  if not digest then return { 'digests' } end
  digests[i] = string.sub(LEDGER, 1, -7) .. 'seen:' .. digest
  keys[#keys + 1] = digests[i]
end
for i, first in ipairs(call('MGET', unpack(keys))) do
  local time, id = string.match(first or '', '^(%d+) (.*)$')
  local record = time and now - time < window and call('HGET', ITEMS, id)
  if record and string.sub(record, 1, 11) == string.format('%011x', time / 1000) then twins[keys[i]] = id end
end
