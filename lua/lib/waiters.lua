--- @include queue
--[[ The waiting list: calls of reserve with a wait, in the sorted set `waiters`, by the time they began. While there
are any, the ledger's field `woken` has the time at which one was last woken. The hash `waiter_times` has for
each waiter:

times = until " " began [" late"]

until  it counts as waiting up to this time, unless it calls again before
began  when it began; a woken waiter has left the sorted set, and returns to this place if it got nothing
late   it was woken and did not call in time

A waiter that calls without having been woken may not overtake those that were woken in the last ARRIVAL_TIME, nor
those before it while wake-ups are being sent. After SETTLING_TIME without a wake-up it may: a message may have
been lost, or the waiting items are not for those before it. ]]
local waiters = {}
local LIFETIME = 5000000 -- microseconds for which a waiter counts as waiting
local EXPIRY_SECONDS = 60 -- seconds after which the list is deleted if all waiters were killed
local ARRIVAL_TIME, SETTLING_TIME = 200000, 3000000 -- microseconds
local WAKE_LIMIT = 250 -- in one call

function waiters.parse(text)
  local deadline, began, late = string.match(text, '^(%d+) (%d+)(.*)$')
  return tonumber(deadline), began, late == ' late'
end

function waiters.format(deadline, began, is_late) return stamp(deadline) .. ' ' .. began .. (is_late and ' late' or '') end

-- The times of a waiter, or nil.
local function read_times(waiter) return waiters.parse(redis.call('HGET', keys.waiter_times, waiter) or '') end

function waiters.leave(waiter)
  redis.call('ZREM', keys.waiters, waiter)
  redis.call('HDEL', keys.waiter_times, waiter)
  if redis.call('EXISTS', keys.waiter_times) == 0 then redis.call('HDEL', keys.ledger, 'woken') end
end

local function is_alive(waiter) return (read_times(waiter) or 0) >= queue.now end

-- The first waiter that is alive. Those before it were killed, and are removed.
local function first_alive()
  local first = redis.call('ZRANGE', keys.waiters, 0, 0)[1]
  while first and not is_alive(first) do
    waiters.leave(first)
    first = redis.call('ZRANGE', keys.waiters, 0, 0)[1]
  end
  return first
end

-- Whether anybody waits whom an item that comes to inbound may wake.
function waiters.can_be_woken() return queue.mode ~= 'paused' and redis.call('HEXISTS', keys.ledger, 'woken') == 1 end

-- Whether a waiter was woken and has not called since.
function waiters.is_woken(waiter)
  return redis.call('HEXISTS', keys.waiter_times, waiter) == 1 and not redis.call('ZSCORE', keys.waiters, waiter)
end

-- How many wait. A killed one counts until its time is over.
function waiters.count()
  local fields, is_waiting, count = redis.call('HGETALL', keys.waiter_times), {}, 0
  for i = 1, #fields, 2 do is_waiting[fields[i]] = waiters.parse(fields[i + 1]) >= queue.now end
  for _, waiter in ipairs(redis.call('ZRANGE', keys.waiters, 0, -1)) do
    if is_waiting[waiter] then count = count + 1 end
  end
  return count
end

-- Puts a waiter into the list, or extends its time there. Returns in how many microseconds it must call
-- again: the first two must when a lease may run out.
local function join(waiter)
  local deadline, began, is_late = read_times(waiter)
  if not began then
    local last_score = redis.call('ZRANGE', keys.waiters, -1, -1, 'WITHSCORES')[2]
    began = stamp(math.max(queue.now, (last_score or 0) + 1))
  end
  if not deadline or is_late or deadline - queue.now < LIFETIME / 2 then
    redis.call('HSET', keys.waiter_times, waiter, waiters.format(queue.now + LIFETIME, began))
  end
  if not redis.call('ZSCORE', keys.waiters, waiter) then redis.call('ZADD', keys.waiters, began, waiter) end
  redis.call('EXPIRE', keys.waiter_times, EXPIRY_SECONDS)
  redis.call('EXPIRE', keys.waiters, EXPIRY_SECONDS)
  if redis.call('HEXISTS', keys.ledger, 'woken') == 0 then redis.call('HSET', keys.ledger, 'woken', 0) end
  first_alive()
  return stamp(redis.call('ZRANK', keys.waiters, waiter) < 2 and queue.next_sweep - queue.now or LIFETIME)
end

-- Wakes the first `count` waiters that are alive, at most WAKE_LIMIT; with `predecessor`, the first after that
-- waiter.
function waiters.wake(count, predecessor)
  local began = predecessor and select(2, read_times(predecessor))
  local from, woken_waiters, list = began and '(' .. began or '-inf', {}, nil
  count = math.min(count, WAKE_LIMIT)
  repeat
    list = redis.call('ZRANGEBYSCORE', keys.waiters, from, '+inf', 'LIMIT', 0, count - #woken_waiters)
    for _, waiter in ipairs(list) do
      if is_alive(waiter) then
        redis.call('ZREM', keys.waiters, waiter)
        woken_waiters[#woken_waiters + 1] = waiter
      else
        waiters.leave(waiter)
      end
    end
  until #woken_waiters >= count or not list[1]
  if woken_waiters[1] then
    redis.call('PUBLISH', keys.wake, table.concat(woken_waiters, ' '))
    redis.call('HSET', keys.ledger, 'woken', stamp(queue.now))
  elseif redis.call('EXISTS', keys.waiter_times) == 0 then
    redis.call('HDEL', keys.ledger, 'woken')
  end
end

-- Waiters that were woken and did not call in time may have been killed. Two others are woken for each of
-- them: those next to a killed waiter were often killed with it. Returns whether any were late.
local function wake_replacements()
  if redis.call('HLEN', keys.waiter_times) == redis.call('ZCARD', keys.waiters) then return false end
  local is_listed, late_count = {}, 0
  for _, waiter in ipairs(redis.call('ZRANGE', keys.waiters, 0, -1)) do is_listed[waiter] = true end
  local fields = redis.call('HGETALL', keys.waiter_times)
  for i = 1, #fields, 2 do
    local waiter, deadline, began, is_late = fields[i], waiters.parse(fields[i + 1])
    if not is_listed[waiter] then
      if not is_late then late_count = late_count + 1 end
      if deadline < queue.now then
        redis.call('HDEL', keys.waiter_times, waiter)
      elseif not is_late then
        redis.call('HSET', keys.waiter_times, waiter, waiters.format(deadline, began, true))
      end
    end
  end
  if late_count > 0 then waiters.wake(2 * late_count) end
  return late_count > 0
end

-- In how many microseconds the waiter must call again if it is not its turn; nil if it is.
function waiters.before_reserve(waiter)
  local last_wake = redis.call('ZSCORE', keys.waiters, waiter) and redis.call('HGET', keys.ledger, 'woken')
  if not last_wake then return nil end
  join(waiter)
  local is_first, elapsed = first_alive() == waiter, queue.now - last_wake
  if elapsed < ARRIVAL_TIME or (wake_replacements() and not is_first) or (elapsed < SETTLING_TIME and not is_first) then
    -- If wake_replacements woke this waiter, it is sent away as well, and calls again as a woken one.
    return redis.call('ZSCORE', keys.waiters, waiter) and join(waiter) or stamp(LIFETIME)
  end
end

-- Whether an item may be there for the next waiter.
function waiters.may_be_served() return queue.mode ~= 'paused' and (queue.shelves ~= '' or queue.mode == 'mixed') end

-- After a reserve: a waiter that got an item leaves the list, one that got none joins it. If it was woken and
-- took no new item, the item that it was woken for still waits, so the next one is woken. Returns in how
-- many microseconds the waiter must call again.
function waiters.after_reserve(waiter, was_woken, reply, is_new)
  local may_be_more = was_woken and waiters.may_be_served()
  if reply then
    waiters.leave(waiter)
    if may_be_more and not is_new then waiters.wake(1) end
    return nil
  end
  local delay = join(waiter)
  if may_be_more then waiters.wake(1, waiter) end
  return delay
end
