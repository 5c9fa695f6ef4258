-- Takes back what ran out and releases what is due, at most `limit` of both together. The caller saves.
local function expire(id, score)
  local item = read_item(id)
  local token, person = end_grant(item, call('HGET', LEDGER, 'g:' .. id), 'expired ' .. at)
  count('expired')
  note('expired', id .. '\t' .. token .. '\t' .. person)
  item.f = (item.f or 0) + 1
  local died = item.f >= (item.m or max_attempts) + 0
  if died then
    call('ZADD', DEAD, string.format('%.0f', score), id)
    write_item(item)
    count('died')
    note('died', id .. '\t' .. token .. '\t' .. person)
  else
    place(item, band_of(item.p) .. ':returned', score)
  end
  call('ZREM', RESERVED, id)
  return died
end

local function release_due(id, score)
  local item = read_item(id)
  if item then
    local band = band_of(item.p)
    place(item, item.a and band .. ':returned' or band, score)
    note('due', id)
  end -- else what is left of an enqueue that the server broke off, and so never acknowledged
  call('ZREM', SCHEDULED, id)
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
