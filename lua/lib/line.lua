--- @include queue
--[[ The waiters: calls of reserve with a wait, in the sorted set `line`, by the time they began. While there
are any, the ledger's field `line` has the time at which one was last woken. The hash `line_until` has for
each waiter:

waiter = until " " began [" late"]

until  it counts as waiting up to this time, unless it calls again before
began  when it began; a woken waiter has left the sorted set, and returns to this place if it got nothing
late   it was woken and did not call in time (see turns.lua) ]]
local line = {
  LIFETIME = 5000000, -- microseconds for which a waiter counts as waiting
  WAKE_LIMIT = 250, -- in one call
}
local EXPIRY_SECONDS = 60 -- seconds after which a line is deleted if all of its waiters were killed

local function terms_of(waiter)
  local until_, began, late = string.match(redis.call('HGET', keys.line_until, waiter) or '', '^(%d+) (%d+)(.*)$')
  return until_ and until_ + 0, began, late
end

function line.leave(waiter)
  redis.call('ZREM', keys.line, waiter)
  redis.call('HDEL', keys.line_until, waiter)
  if redis.call('EXISTS', keys.line_until) == 0 then redis.call('HDEL', keys.ledger, 'line') end
end

local function is_alive(waiter) return (terms_of(waiter) or 0) >= queue.now end

-- The first waiter that is alive. Those before it were killed, and are removed from the line.
function line.first()
  local first = redis.call('ZRANGE', keys.line, 0, 0)[1]
  while first and not is_alive(first) do
    line.leave(first)
    first = redis.call('ZRANGE', keys.line, 0, 0)[1]
  end
  return first
end

-- Puts a waiter into the line, or extends its time there. Returns in how many microseconds it must call
-- again: the first two must when a lease may run out.
function line.join(waiter)
  local until_, began, late = terms_of(waiter)
  if not began then
    local last_score = redis.call('ZRANGE', keys.line, -1, -1, 'WITHSCORES')[2]
    began = stamp(math.max(queue.now, (last_score or 0) + 1))
  end
  if not until_ or late ~= '' or until_ - queue.now < line.LIFETIME / 2 then
    redis.call('HSET', keys.line_until, waiter, stamp(queue.now + line.LIFETIME) .. ' ' .. began)
  end
  if not redis.call('ZSCORE', keys.line, waiter) then redis.call('ZADD', keys.line, began, waiter) end
  redis.call('EXPIRE', keys.line_until, EXPIRY_SECONDS)
  redis.call('EXPIRE', keys.line, EXPIRY_SECONDS)
  if redis.call('HEXISTS', keys.ledger, 'line') == 0 then redis.call('HSET', keys.ledger, 'line', 0) end
  line.first()
  return stamp(redis.call('ZRANK', keys.line, waiter) < 2 and queue.next_sweep - queue.now or line.LIFETIME)
end

-- Wakes the first `count` waiters that are alive; with `predecessor`, the first after that waiter.
function line.wake(count, predecessor)
  local began = predecessor and select(2, terms_of(predecessor))
  local from, woken_waiters, waiters = began and '(' .. began or '-inf', {}, nil
  repeat
    waiters = redis.call('ZRANGEBYSCORE', keys.line, from, '+inf', 'LIMIT', 0, count - #woken_waiters)
    for _, waiter in ipairs(waiters) do
      if is_alive(waiter) then
        redis.call('ZREM', keys.line, waiter)
        woken_waiters[#woken_waiters + 1] = waiter
      else
        line.leave(waiter)
      end
    end
  until #woken_waiters >= count or not waiters[1]
  if woken_waiters[1] then
    redis.call('PUBLISH', keys.wake, table.concat(woken_waiters, ' '))
    redis.call('HSET', keys.ledger, 'line', stamp(queue.now))
  elseif redis.call('EXISTS', keys.line_until) == 0 then
    redis.call('HDEL', keys.ledger, 'line')
  end
end
