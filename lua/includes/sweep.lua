-- Takes back what ran out and releases what is due, at most `limit` of both together. The caller saves.
local function expire(member, score)
  local item, id = read_item(member), item_of(member)
  local token, person = end_grant(item, call('HGET', LEDGER, 'g:' .. member), 'expired ' .. at)
  count('expired')
  note('expired', id .. '\t' .. token .. '\t' .. person)
  local died = count_failure(item)
  if died then
    die(item, score, token .. '\t' .. person)
  else
    place(item, true, score)
  end
  call('ZREM', RESERVED, member)
  return died
end

local function release_due(member, score)
  local item = read_item(member)
  if item then
    place(item, item.a or item.o, score)
    note('due', item_of(member))
  end -- else what is left of an enqueue that the server broke off, and so never acknowledged
  call('ZREM', SCHEDULED, member)
  return item ~= nil
end

-- 2^53 - 1, the largest time that a score holds exactly, stands for never.
local function settle_soonest()
  local first = 9007199254740991
  for _, key in ipairs({ RESERVED, SCHEDULED }) do
    local score = call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
    if score then first = math.min(first, score + 0) end
  end
  soonest = string.format('%.0f', first)
end

-- Each move takes a microsecond of the queue's time, so that shelves stay in order.
local function sweep(limit)
  local returned, released, died = 0, 0, 0
  local time = now
  for _, id in ipairs(call('ZRANGEBYSCORE', RESERVED, '-inf', time, 'LIMIT', 0, limit)) do
    if expire(id, now) then died = died + 1 else returned = returned + 1 end
    now = now + 1
  end
  local left = limit - returned - died
  if left > 0 then
    for _, id in ipairs(call('ZRANGEBYSCORE', SCHEDULED, '-inf', time, 'LIMIT', 0, left)) do
      if release_due(id, now) then released = released + 1 end
      now = now + 1
    end
  end
  settle_soonest()
  return returned, released, died
end
