--- @include line
-- Keeps the order of waiters. A waiter that calls without having been woken may not overtake those that were
-- woken in the last ARRIVAL_TIME, nor those before it while wake-ups are being sent. After SETTLING_TIME
-- without a wake-up it may: a message may have been lost, or the waiting items are not for those before it.
local turns = {}
local ARRIVAL_TIME, SETTLING_TIME = 200000, 3000000 -- microseconds

-- Waiters that were woken and did not call in time may have been killed. Two others are woken for each of
-- them: those next to a killed waiter were often killed with it. Returns whether any were late.
local function wake_replacements()
  if redis.call('HLEN', keys.line_until) == redis.call('ZCARD', keys.line) then return false end
  local is_in_line, late_count = {}, 0
  for _, waiter in ipairs(redis.call('ZRANGE', keys.line, 0, -1)) do is_in_line[waiter] = true end
  local fields = redis.call('HGETALL', keys.line_until)
  for i = 1, #fields, 2 do
    local waiter, terms = fields[i], fields[i + 1]
    local is_late = string.sub(terms, -5) == ' late'
    if not is_in_line[waiter] then
      if not is_late then late_count = late_count + 1 end
      if string.match(terms, '^%d+') + 0 < queue.now then
        redis.call('HDEL', keys.line_until, waiter)
      elseif not is_late then
        redis.call('HSET', keys.line_until, waiter, terms .. ' late')
      end
    end
  end
  if late_count > 0 then line.wake(math.min(2 * late_count, line.WAKE_LIMIT)) end
  return late_count > 0
end

-- In how many microseconds the waiter must call again if it is not its turn; nil if it is.
function turns.before_reserve(waiter)
  local last_wake = redis.call('ZSCORE', keys.line, waiter) and redis.call('HGET', keys.ledger, 'line')
  if not last_wake then return nil end
  line.join(waiter)
  local is_first, elapsed = line.first() == waiter, queue.now - last_wake
  if elapsed < ARRIVAL_TIME or (wake_replacements() and not is_first) or (elapsed < SETTLING_TIME and not is_first) then
    -- If wake_replacements woke this waiter, it is sent away as well, and calls again as a woken one.
    return redis.call('ZSCORE', keys.line, waiter) and line.join(waiter) or stamp(line.LIFETIME)
  end
end

-- After a reserve: a waiter that got an item leaves the line, one that got none joins it. If it was woken and
-- took no new item, the item that it was woken for still waits, so the next in line is woken. Returns in how
-- many microseconds the waiter must call again.
function turns.after_reserve(waiter, was_woken, reply, is_new)
  local may_be_more = was_woken and queue.mode ~= 'paused' and (queue.shelves ~= '' or queue.mode == 'mixed')
  if reply then
    line.leave(waiter)
    if may_be_more and not is_new then line.wake(1) end
    return nil
  end
  local delay = line.join(waiter)
  if may_be_more then line.wake(1, waiter) end
  return delay
end
