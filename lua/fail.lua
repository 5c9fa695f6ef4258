#!lua flags=allow-oom
--[[ Records that an item can't be done: it is tried again after a back-off, or dies if its attempts are used
up or the caller says so. The wait is retry_seconds, doubled for each failure after the first, at most
retry_max_seconds, and shortened by up to a quarter at random, so that items that failed together do not come
back together (AWS Architecture Blog, "Exponential Backoff And Jitter"). With a request id, also reserves the
next item.

KEYS   as abandon.lua
ARGV   1 the time in microseconds, or ''   2 id   3 token   4 person   5 error as JSON
       6 'retry', or 'die': it is not tried again, whatever attempts are left
       7 the request id of the reserve that follows; left out without one   8 the skills as for reserve
REPLY  {'failed', due in microseconds or '' if it is not tried again, the next lease as `finish` returns it}
       {'lost', 0, the item}   {'no-item'}   {'no-queue'} ]]
local id, token, person, failure, request = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[7]
--- @include deaths
--- @include describe
-- When the item may be tried again, by its number of failures.
local function retry_at(failures)
  math.randomseed(queue.now % 2147483647)
  local wait = math.min(queue.rules.retry_seconds * 2 ^ math.min(failures - 1, 40), queue.rules.retry_max_seconds + 0)
  return math.floor(queue.now + wait * 1000000 * (1 - math.random() / 4) + 0.5)
end

-- The same for an earlier fail, from its grant; '' if it is not tried again.
local function due_of(ended_grant)
  local due = string.match(ended_grant.detail, '^%d+')
  return due ~= '0' and due or ''
end

local refusal = queue.open()
if refusal then return refusal end
local member, grant, ended_grant = leases.find_held(id, token, person, 'failed')
if ended_grant and not request then return { 'failed', due_of(ended_grant) } end
if not grant and not ended_grant then return lost_reply(id) end

local due = ended_grant and due_of(ended_grant)
if grant then
  local item = items.read(member)
  local is_dead, failures = deaths.count_failure(item)
  is_dead = is_dead or ARGV[6] == 'die'
  due = (is_dead or surplus.is_one(item)) and '' or stamp(retry_at(failures))
  leases.close(item, grant, 'failed', (due == '' and '0' or due) .. ' ' .. failure)
  queue.count('failed')
  journal.note('failed', id, token, person, failure)
  if is_dead then
    deaths.die(item, token, person)
  elseif due == '' or due == stamp(queue.now) then
    places.put(item, true)
  else
    redis.call('ZADD', keys.scheduled, due, member)
    items.write(item)
    queue.expect(due + 0)
  end
  redis.call('ZREM', keys.reserved, member)
end
if not request then
  commit()
  return { 'failed', due }
end

-- The next item.
--- @include take_again
local next_lease = take_again(person, request) or take_new(person, holdings.read(person), request, ARGV[8])
commit()
return { 'failed', due, next_lease or { 'nothing' } }
