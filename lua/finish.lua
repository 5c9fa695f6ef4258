#!lua flags=allow-oom
--[[ Accepts an item's answer from its holder; with a request id, also reserves the next item. A lease that
ran out still counts if nobody else has been granted the item since. An answer that is refused is kept.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:reserved  3 leaseq:{q}:journal  4 leaseq:{q}:finished
       and, if they are needed, others of the queue, derived from the first: declaring one takes about 1 % of
       each call
ARGV   1 the time in microseconds, or ''   2 id   3 token   4 person   5 result
       6 the version of the form that the result was checked against, or '-'
       7 the request id of the reserve that follows; left out without one   8 the skills as for reserve
REPLY  {'finished', late 0|1, replayed 0|1, the microseconds from the grant to the finish, when that was,
       the next lease as `reserve` returns it or {'nothing'}, {'more'} or {'clear'}}
       {'form', the item's own form, if it has one}: check again, else against the queue's   {'lost', kept 0|1, the item}   {'no-item'}
       {'no-queue'} ]]
local call, string = redis.call, string
local LEDGER, RESERVED, JOURNAL, FINISHED = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, token, person, result, request = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[7]

-- The ordinary case: no lease ran out, and the person's latest grant of the item is this one, without a due
-- date, a form of its own or somebody who waits for the answer. If the item has several assignments, nobody has a draft of it, and the person has no other sign (see
-- lib/relations.lua). If the next item is requested, the queue is open, the person holds nothing else, and the
-- first item in inbound is one that nobody has had yet, without a due date. No function is made here: making
-- one costs as much as half a command.
local state, grant, holdings_text = unpack(call('HMGET', LEDGER, 'status', 'g:' .. id, 'p:' .. person))
if not state then return { 'no-queue', call('EXISTS', string.sub(LEDGER, 1, -7) .. 'deleted') } end
local clock, last_token, finished, next_sweep, rest, mode, lease_seconds, form_version, first_shelf =
  string.match(state, UNSKEWED_PATTERN)
local member, tab_before, tab_after = id, string.find(holdings_text or '', '\t' .. id .. '\t', 1, true)
if mode ~= 'open' and holdings_text and not tab_before then -- they may hold another assignment of it
  tab_before = string.find(holdings_text, '\t' .. id .. '\a', 1, true)
  tab_after = tab_before and string.find(holdings_text, '\t', tab_before + 1, true)
  member = tab_before and string.sub(holdings_text, tab_before + 1, tab_after - 1)
  grant = tab_before and call('HGET', LEDGER, 'g:' .. member)
end
local claim = CLAIM(token, person)
if form_version == ARGV[6] and tab_before and grant and string.sub(grant, 1, #claim) == claim then
  local at = ARGV[1]
  if at == '' then
    local time = call('TIME')
    at = time[1] .. string.rep('0', 6 - #time[2]) .. time[2]
  end
  local now = at + 0
  local granted, marks = string.match(grant, TERMS_PATTERN, #claim + 1)
  local queue = string.sub(LEDGER, 1, -7) -- what all keys begin with
  local sweep_at = next_sweep + 0
  local is_ordinary = now > clock + 0 and now < sweep_at and granted
    and not (marks ~= '' and string.find(marks, ' [ds]'))
  local signs
  if mode ~= 'open' and is_ordinary and (member ~= id or call('HEXISTS', queue .. 'items', id .. '\a2') == 1) then
    signs = call('HGET', queue .. 'relations', id) or '\t'
    is_ordinary = not string.find(signs, person .. '\t', 1, true) and call('HEXISTS', queue .. 'drafts', id) == 0
  end
  local remaining_holdings = is_ordinary and string.sub(holdings_text, 1, tab_before) .. string.sub(holdings_text, tab_after + 1)
  local shelf, next_id, record
  if request and is_ordinary then
    shelf = queue .. 'inbound' .. (first_shelf == 'normal' and '' or ':' .. first_shelf)
    is_ordinary = mode == 'open' and first_shelf ~= '' and not string.find(first_shelf, ':', 1, true)
      and string.find(remaining_holdings, '\t', 1, true) == #remaining_holdings
    next_id = is_ordinary and call('ZRANGE', shelf, 0, 0)[1]
    record = next_id and call('HGET', queue .. 'items', next_id)
    is_ordinary = record and IS_NEW(record)
  end
  if is_ordinary then
    finished = string.format('%d', finished + 1)
    local ended_grant = grant .. ANSWERED(at, result)
    call('ZADD', FINISHED, at, member)
    call('ZREM', RESERVED, member)
    if signs then call('HSET', queue .. 'relations', id, signs .. '=' .. person .. '\t') end
    if marks ~= '' and string.find(marks, ' w', 1, true) then -- somebody has a draft: see lib/drafts.lua
      local drafts = queue .. 'drafts'
      for writer in string.gmatch(call('HGET', drafts, id) or '', '[^\t]+') do call('HDEL', drafts, id .. '\t' .. writer) end
      call('HDEL', drafts, id)
    end
    if not request then
      call('HSET', LEDGER, 'status', UNSKEWED_STATUS(at, last_token, finished, next_sweep, rest),
        'p:' .. person, remaining_holdings, 'g:' .. member, ended_grant)
      call('XADD', JOURNAL, at, 'finished', CHANGE(id, token, person))
      return { 'finished', 0, 0, now - granted, now }
    end
    local next_token, expires = string.format('%d', last_token + 1), now + lease_seconds * 1000000
    if expires < sweep_at then next_sweep = string.format('%d', expires) end
    local next_grant = FIRST_GRANT(next_token, person, at, lease_seconds)
    call('ZADD', RESERVED, expires, next_id)
    call('HSET', LEDGER, 'status', UNSKEWED_STATUS(at, next_token, finished, next_sweep, rest),
      'p:' .. person, ONE_HOLDING(request, next_id), 'g:' .. next_id, next_grant, 'g:' .. id, ended_grant)
    call('ZREM', shelf, next_id)
    call('XADD', JOURNAL, at, 'finished', CHANGE(id, token, person), 'reserved', CHANGE(next_id, next_token, person))
    return { 'finished', 0, 0, now - granted, now, { 'leased', next_id, next_grant, record } }
  end
end

-- Every other case.
--- @include answers
--- @include describe
local refusal = queue.open()
if refusal then return refusal end

-- Decide which assignment the answer fills, under which grant, which set that assignment is in now, and from
-- which history a block is removed.
local member, answered_grant = leases.latest(id, token, person)
local held_leases, source, past_member, past_text = holdings.read(person), nil, nil, nil
local is_replayed = answered_grant ~= nil and answered_grant.ending == 'finished' and answered_grant.answer == result
if answered_grant and not answered_grant.ending then
  source = keys.reserved
elseif answered_grant and answered_grant.ending == 'expired' and answers.may_give(id, person, held_leases, token) then
  source = select(3, places.find(items.read(member)))
  -- It was closed, as the item needs no more answers, or nobody needs any.
  if source == keys.finished or source == keys.dead and items.read(id).ended then source = nil end
elseif not answered_grant and queue.mode ~= 'open' and answers.may_give(id, person, held_leases, token) then
  -- Somebody else was granted that assignment since: the answer fills one that waits now and is not assigned
  -- to somebody else.
  past_member, past_text = leases.find(id, token, person)
  local past_grant = past_text and grants.parse(past_text)
  local members = past_grant and past_grant.ending == 'expired' and items.assignments(id) or {}
  for _, other in ipairs(#members > 1 and members or {}) do
    local item = items.read(other)
    local state, _, key = places.find(item)
    if not source and state == 'inbound' and (not item.assignee or items.is_for(item, person)) then
      member, answered_grant, source = other, past_grant, key
      answered_grant.moved = ''
    end
  end
end
if not source and not is_replayed then return lost_reply(id, answers.keep_late(id, token, person, result)) end
local first = answered_grant and answered_grant.special and items.read(id)
if source and (first and first.form or queue.form_version) ~= ARGV[6] then return { 'form', first and first.form and redis.call('HGET', keys.forms, first.form) } end

-- Write it.
if source then
  local is_late = answered_grant.ending == 'expired' or source == keys.reserved and grants.expires(answered_grant) <= queue.now
  if past_text then
    local item = items.read(member)
    if item.attempts then grants.keep_latest(member) end
    leases.add_assignment(item)
    local list = grants.read_history(past_member)
    table.remove(list, grants.find(list, token, person))
    grants.write_history(past_member, list)
  end
  answers.apply(member, person, source)
  grants.finish(answered_grant, queue.now, is_late, result)
  holdings.remove(held_leases, member)
  redis.call('ZADD', keys.finished, queue.now, member)
  redis.call('ZREM', source, member)
  holdings.write(person, held_leases)
  grants.write(member, answered_grant)
  queue.finished = queue.finished + 1
  journal.note('finished', id, token, person)
  if first and first.asked then places.answer_question(first) end
end
local reply = { 'finished', answered_grant.detail + 0, is_replayed and 1 or 0, answered_grant.ended - answered_grant.granted, answered_grant.ended }
if not request then
  commit()
  return reply
end

-- The next item.
--- @include take_again
reply[6] = take_again(person, request) or take_new(person, holdings.read(person), request, ARGV[8]) or { 'nothing' }
commit()
return reply
