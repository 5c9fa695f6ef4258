-- keep_finished_seconds: forgets items that were finished longer ago, at most `limit` of them and of MEMBERS
-- assignments and people who gave one back for later. The ledger's `forget` is the time before which none is
-- old enough, and up to where FINISHED was looked through. Each entry is looked at once: an item with several
-- answers goes when the last one is old, and is met then. Nothing goes that a consumer group of the journal has
-- not read, be it a late answer. Needs: forgets, limit. Sets: forgotten, more.
local MEMBERS = 60
local keep = keep_finished_seconds * 1000000
local read, from = read_by_all(), string.match(forgets, '%d+$')
local last = math.min(now - keep, read)

local function unread(id)
  if read == math.huge then return false end
  for time in string.gmatch(call('HGET', LATE, id) or '', '\t(%d+)\n') do
    if time + 0 > read then return true end
  end
end

local function all_go(members)
  for _, member in ipairs(members) do
    local score = call('ZSCORE', FINISHED, member)
    if not score or score + 0 > last then return false end
  end
  return true
end

local function behind(score, to, count)
  return call('ZRANGEBYSCORE', FINISHED, '(' .. score, to, 'WITHSCORES', 'LIMIT', 0, count)
end

local held_back, looked = false, 0
local entries = behind(from, string.format('%.0f', last), MEMBERS)
for i = 1, #entries, 2 do
  local id = item_of(entries[i])
  local members = assignments(id)
  held_back = unread(id)
  if held_back or looked >= MEMBERS then break end
  looked = looked + #members
  if all_go(members) then
    if forgotten == limit then break end
    looked = looked + select(2, string.gsub(call('HGET', BARS, id) or '', '\t~', ''))
    forget(id)
    note('forgotten', id .. '\t\t')
    forgotten = forgotten + 1
  end
  from = entries[i + 1]
end
if forgotten > 0 then call('HINCRBY', LEDGER, 'n:forgotten', forgotten) end
local following = behind(from, '+inf', 1)[2]
local next_time = following and math.max(following + keep, now) or now + keep
more = more or following ~= nil and following + 0 <= last and not held_back
call('HSET', LEDGER, 'forget', string.format('%.0f', next_time) .. ' ' .. from)
