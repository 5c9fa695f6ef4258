#!lua flags=allow-oom
--[[ Reserves for a person one item that nobody else holds.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items  3 leaseq:{q}:inbound
       4 leaseq:{q}:reserved  5 leaseq:{q}:journal
       and, except in the ordinary case, others that lib/queue.lua derives from the first
ARGV   1 the time in microseconds, or '' for the server's   2 person   3 request id
       4 the person's skills, sorted, separated by commas; left out if there are none
       5 the name of the waiter, 6 whether it was woken, 0 or 1; both left out if the caller does not wait
REPLY  {'leased', id, grant, record, draft or nil, the item's own form or nil}
       {'nothing', in how many microseconds a waiter must call again or '', the queue's last token}
       {'nothing'}: there is no queue
       {'more'}: there is more to look at than fits into one call; call again
       {'clear'}: there are items that nobody needs any more; call clear, then again ]]
local call, string = redis.call, string
local LEDGER, ITEMS, INBOUND, RESERVED, JOURNAL = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local person, request, skills, waiter, was_woken = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6] == '1'

-- The ordinary case: the queue is open, no lease ran out, the person holds nothing, and inbound is empty or
-- its first item is one that nobody has had yet, without a due date. No function is made here: making one
-- costs as much as half a command.
local state, holdings_text = unpack(call('HMGET', LEDGER, 'status', 'p:' .. person))
if not state then return { 'nothing' } end
local clock, last_token, finished, next_sweep, rest, lease_seconds, shelf, colon = string.match(state, OPEN_PATTERN)
if colon == '' and not waiter and (not holdings_text or string.find(holdings_text, '\t', 1, true) == #holdings_text) then
  local at = ARGV[1]
  if at == '' then
    local time = call('TIME')
    at = time[1] .. string.rep('0', 6 - #time[2]) .. time[2]
  end
  local now = at + 0
  local sweep_at = next_sweep + 0
  local is_quiet = now > clock + 0 and now < sweep_at
  if is_quiet and shelf == '' then return { 'nothing', '', last_token } end
  local shelf_key = shelf == 'normal' and INBOUND or INBOUND .. ':' .. shelf
  local id = is_quiet and call('ZRANGE', shelf_key, 0, 0)[1]
  local record = id and call('HGET', ITEMS, id)
  if record and IS_NEW(record) then
    local token, expires = string.format('%d', last_token + 1), now + lease_seconds * 1000000
    if expires < sweep_at then next_sweep = string.format('%d', expires) end
    local grant = FIRST_GRANT(token, person, at, lease_seconds)
    call('ZADD', RESERVED, expires, id)
    call('HSET', LEDGER, 'status', UNSKEWED_STATUS(at, token, finished, next_sweep, rest),
      'p:' .. person, ONE_HOLDING(request, id), 'g:' .. id, grant)
    call('ZREM', shelf_key, id)
    call('XADD', JOURNAL, at, 'reserved', CHANGE(id, token, person))
    return { 'leased', id, grant, record }
  end
end

-- In a queue of any kind: the caller does not wait, nothing ran out and the person holds nothing.
--- @include take_new
local refusal = queue.open()
if refusal then return refusal end
local held_leases = holdings.parse(holdings_text)
if not waiter and queue.now < queue.next_sweep and not held_leases[1] then
  local reply = take_new(person, held_leases, request, skills)
  commit()
  return reply or { 'nothing', '', stamp(queue.token) }
end

-- Every other case.
--- @include take_again
local function wait_reply()
  local delay = waiter and not was_woken and waiters.before_reserve(waiter)
  if not delay then return nil end
  commit()
  return { 'nothing', delay, stamp(queue.token) }
end
local early_reply = wait_reply()
if early_reply then return early_reply end
local may_return, is_new = queue.now >= queue.next_sweep, false
local reply = take_again(person, request)
if not reply then
  early_reply = may_return and wait_reply() -- items that came back may have woken others
  if early_reply then return early_reply end
  reply, is_new = take_new(person, holdings.read(person), request, skills, waiter), true
end
local delay = ''
if waiter and not (reply and (reply[1] == 'more' or reply[1] == 'clear')) then delay = waiters.after_reserve(waiter, was_woken, reply, is_new) end
commit()
return reply or { 'nothing', delay, stamp(queue.token) }
