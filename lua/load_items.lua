#!lua
--[[ Restores items of a backup, each exactly as it was, into a queue that load.lua began. An item that is
there already is replaced: of two lines about one item, the later one has its later state.

KEYS   as adopt.lua
ARGV   1 the time in microseconds, or ''   2 end: the queue is complete, and other calls find it from now on;
       else ''
       then for each item: id, its score in the set `due` or '', late answers or '', relations or '', decision or '',
       how many drafts and how many assignments it has; then for each draft: person, draft; then for each assignment:
       the set that it is in, its score, record, latest grant or '', history or ''
REPLY  {'ok'}   {'no-queue'}: none is being restored ]]
local is_last = ARGV[2] == 'end'
--- @include forget
local loading = redis.call('HGET', keys.ledger, 'loading')
if not loading then return { 'no-queue' } end
local refusal = queue.open(true, loading)
if refusal then return refusal end

local function write(key, field, value)
  if value ~= '' then redis.call('HSET', key, field, value) end
end

-- Adds a lease to what a person holds, in the order of the tokens: oldest first.
local function hold(member, grant)
  local held_leases, place = holdings.read(grant.person), 1
  while held_leases[place] and grants.latest(held_leases[place]).token + 0 < grant.token + 0 do place = place + 1 end
  table.insert(held_leases, place, member)
  holdings.write(grant.person, held_leases)
end

-- The queue's state was read before its items: the clock must continue after their times, and the queue may
-- need more than a plain row.
local function put(member, set, score, record, grant, history)
  local item = items.parse(member, record)
  local form = forms.take(item)
  if form then
    forms.add(item.form, form)
    record = items.format(item)
  end
  if item.expires and not item.ended then places.enter_expiring(item) end
  if items.round(member) > 1 or item.expires then shelves.mix() end
  if set == 'inbound' then shelves.open(shelves.row(item), item.shelf or 'normal') end
  redis.call('ZADD', set == 'inbound' and shelves.key_of(item) or keys[set], score, member)
  write(keys.items, member, record)
  write(keys.ledger, 'g:' .. member, grant)
  write(keys.history, member, history)
  if set == 'reserved' or set == 'scheduled' then
    queue.expect(score + 0)
  else
    queue.now = math.max(queue.now, score + 0)
  end
  if set == 'reserved' then hold(member, grants.parse(grant)) end
end

local at = 3
while ARGV[at] do
  local id, due, late_answers, signs, decision, draft_count, assignment_count = unpack(ARGV, at, at + 6)
  at = at + 7
  if items.read(id) then forget.item(id) end
  if due ~= '' then redis.call('ZADD', keys.due, due, id) end
  write(keys.late, id, late_answers)
  write(keys.relations, id, signs)
  write(keys.decisions, id, decision)
  for _ = 1, draft_count do
    drafts.write(id, ARGV[at], ARGV[at + 1])
    at = at + 2
  end
  local has_answer = false
  for round = 1, assignment_count do
    has_answer = has_answer or ARGV[at] == 'finished'
    put(round == 1 and id or id .. '\a' .. round, unpack(ARGV, at, at + 4))
    at = at + 5
  end
  if has_answer and redis.call('ZREM', keys.questions, id) == 1 and assignment_count ~= '1' then
    redis.call('ZADD', keys.expiring, items.read(id).expires, id)
  end
end
if is_last then
  redis.call('HDEL', keys.ledger, 'loading')
  journal.note('created', '', '', '', '')
  commit()
else
  queue.clock = queue.now
  redis.call('HSET', keys.ledger, 'loading', status.format(queue))
end
return { 'ok' }
