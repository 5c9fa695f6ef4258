-- Who waits for an item, in the sorted set LINE, by when they began; in the hash LINE_UNTIL until when
-- they are believed to be there, when they began, and ` late` for a waiter that was woken and did not come
-- (see wait_turn.lua). A waiter that was woken has left the set; one that finds nothing for them takes their
-- old place again. The ledger's `line` is when somebody was last woken; it is there while anybody waits.
local LINE, LINE_UNTIL = string.sub(LEDGER, 1, -7) .. 'line', string.sub(LEDGER, 1, -7) .. 'line_until'
local BELIEVED = 5000000 -- microseconds; a waiter that is there says so more often
local FORGOTTEN = 60 -- seconds after which nobody who said nothing counts
local MOST_WOKEN = 250 -- in one call

local function leave_line(waiter)
  call('ZREM', LINE, waiter)
  call('HDEL', LINE_UNTIL, waiter)
  if call('EXISTS', LINE_UNTIL) == 0 then call('HDEL', LEDGER, 'line') end
end

local function is_there(waiter)
  return (string.match(call('HGET', LINE_UNTIL, waiter) or '', '^%d+') or 0) + 0 >= now
end

-- Gives the first who is there. Those ahead of them were killed, and are taken out of the line.
local function first_in_line()
  local first = call('ZRANGE', LINE, 0, 0)[1]
  while first and not is_there(first) do
    leave_line(first)
    first = call('ZRANGE', LINE, 0, 0)[1]
  end
  return first
end

-- Gives in how many microseconds to look again: those in front do when a lease may run out.
local function stand_in_line(waiter)
  local until_, began, late = string.match(call('HGET', LINE_UNTIL, waiter) or '', '^(%d+) (%d+)(.*)$')
  if not began then
    local last = call('ZRANGE', LINE, -1, -1, 'WITHSCORES')[2]
    began = string.format('%.0f', math.max(now, (last or 0) + 1))
  end
  if not until_ or late ~= '' or until_ - now < BELIEVED / 2 then
    call('HSET', LINE_UNTIL, waiter, string.format('%.0f', now + BELIEVED) .. ' ' .. began)
  end
  if not call('ZSCORE', LINE, waiter) then call('ZADD', LINE, began, waiter) end
  call('EXPIRE', LINE_UNTIL, FORGOTTEN) -- where all were killed, nobody is left who would take them out
  call('EXPIRE', LINE, FORGOTTEN)
  if call('HEXISTS', LEDGER, 'line') == 0 then call('HSET', LEDGER, 'line', 0) end
  first_in_line()
  return string.format('%.0f', call('ZRANK', LINE, waiter) < 2 and soonest - now or BELIEVED)
end

-- Wakes the first `count` that are there; with `behind`, of those behind that waiter.
local function wake(count, behind)
  local from = behind and string.match(call('HGET', LINE_UNTIL, behind) or '', '^%d+ (%d+)')
  from = from and '(' .. from or '-inf'
  local woken, next_ = {}, nil
  repeat
    next_ = call('ZRANGEBYSCORE', LINE, from, '+inf', 'LIMIT', 0, count - #woken)
    for _, waiter in ipairs(next_) do
      if is_there(waiter) then
        call('ZREM', LINE, waiter)
        woken[#woken + 1] = waiter
      else
        leave_line(waiter)
      end
    end
  until #woken >= count or not next_[1]
  if woken[1] then
    call('PUBLISH', string.sub(LEDGER, 1, -7) .. 'wake', table.concat(woken, ' '))
    call('HSET', LEDGER, 'line', string.format('%.0f', now))
  elseif call('EXISTS', LINE_UNTIL) == 0 then
    call('HDEL', LEDGER, 'line')
  end
end
