-- Who waits for an item, in the sorted set LINE, by when they began; in the hash LINE_UNTIL for how long
-- they are believed to be there, and when they began. A waiter that was woken has left the set; one that
-- finds nothing for them takes their old place again. The ledger's `line` is when somebody was last
-- woken; it is there while anybody waits.
local LINE, LINE_UNTIL = string.sub(LEDGER, 1, -7) .. 'line', string.sub(LEDGER, 1, -7) .. 'line_until'
local BELIEVED = 5000000 -- microseconds; a waiter that is there says so more often
local FORGOTTEN = 60 -- seconds after which nobody who said nothing counts
local MOST_WOKEN = 250 -- in one call

local function leave_line(waiter)
  call('ZREM', LINE, waiter)
  if call('HDEL', LINE_UNTIL, waiter) == 1 and call('EXISTS', LINE_UNTIL) == 0 then call('HDEL', LEDGER, 'line') end
end

-- Gives in how many microseconds to look again: those in front do when a lease may run out.
local function stand_in_line(waiter)
  local until_, began = string.match(call('HGET', LINE_UNTIL, waiter) or '', '^(%d+) (%d+)$')
  if not began then
    local last = call('ZRANGE', LINE, -1, -1, 'WITHSCORES')[2]
    began = string.format('%.0f', math.max(now, (last or 0) + 1))
  end
  if not until_ or until_ - now < BELIEVED / 2 then
    call('HSET', LINE_UNTIL, waiter, string.format('%.0f', now + BELIEVED) .. ' ' .. began)
    call('EXPIRE', LINE_UNTIL, FORGOTTEN) -- who was killed after being woken takes nothing back
  end
  if not call('ZSCORE', LINE, waiter) then call('ZADD', LINE, began, waiter) end
  if call('HEXISTS', LEDGER, 'line') == 0 then call('HSET', LEDGER, 'line', 0) end
  return string.format('%.0f', call('ZRANK', LINE, waiter) < 2 and soonest - now or BELIEVED)
end

-- Wakes the first `count` that are there; with `behind`, of those behind that waiter.
local function wake(count, behind)
  local from = behind and string.match(call('HGET', LINE_UNTIL, behind) or '', ' (%d+)$')
  local woken = {}
  for _, waiter in ipairs(call('ZRANGEBYSCORE', LINE, from and '(' .. from or '-inf', '+inf', 'LIMIT', 0,
    count + 50)) do
    if #woken == count then break end
    call('ZREM', LINE, waiter)
    if (string.match(call('HGET', LINE_UNTIL, waiter) or '', '^%d+') or 0) + 0 >= now then
      woken[#woken + 1] = waiter
    else
      call('HDEL', LINE_UNTIL, waiter)
    end
  end
  if woken[1] then call('PUBLISH', string.sub(LEDGER, 1, -7) .. 'wake', table.concat(woken, ' ')) end
  if call('EXISTS', LINE_UNTIL) == 0 then
    call('HDEL', LEDGER, 'line')
  elseif woken[1] then
    call('HSET', LEDGER, 'line', string.format('%.0f', now))
  end
end
