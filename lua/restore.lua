#!lua
--[[ Restores an item that the queue lost, with its answers, and makes new tokens higher than all that were
granted before. An item that exists is left as it is.

KEYS   as adopt.lua
ARGV   1 the time in microseconds, or ''   2 by whom, or ''   3 a token: new ones are higher; 0 for any
       then, if there is an item: 4 id   5 its head after the time (see lib/items.lua)
       6 payload   7 'dead' if it was dead, else ''   8 the people to whom it is assigned, each followed by a TAB
       and for each answer: person, token, when it was given, late 0|1, 1 if it counts or 0 if it is kept as a
       late answer, the answer
REPLY  {'ok', restored 0|1}   {'rows', how many sets of skills may wait at the same time}   {'no-queue'} ]]
local by, min_token, id, head, payload, state, people = ARGV[2], ARGV[3] + 0, unpack(ARGV, 4, 8)
--- @include answers
--- @include forms
local refusal = queue.open()
if refusal then return refusal end
local token = math.max(min_token, queue.token)
if token ~= queue.token then -- the counter of grants does not change
  redis.call('HINCRBY', keys.ledger, 'n:reserved', stamp(token - queue.token))
  queue.token = token
end
if not id or items.read(id) then
  commit()
  return { 'ok', 0 }
end

local first = items.parse(id, items.enqueued(queue.now) .. head .. '\n' .. payload)
local start, form = items.take_start(first, queue.now), forms.take(first)
if first.expires then items.fix_expiry(first) end
local row, new_rows = shelves.row(first), {}
if row ~= '' and people == '' then new_rows[row] = true end
for person in string.gmatch(people, '[^\t]+') do new_rows['@' .. person] = true end
if state ~= 'dead' and next(new_rows) and shelves.too_many_rows(new_rows) then return { 'rows', shelves.ROW_LIMIT } end

local function assignment(round)
  if round == 1 then return first end
  return { member = id .. '\a' .. round, enqueued = first.enqueued, priority = first.priority, due = first.due,
    max_attempts = first.max_attempts, answers = first.answers, requires = first.requires, form = first.form,
    asked = first.asked, payload = '' }
end

local function put(item)
  if state == 'dead' then
    redis.call('ZADD', keys.dead, queue.now, item.member)
    items.write(item)
  elseif start then
    redis.call('ZADD', keys.scheduled, stamp(start), item.member)
    items.write(item)
    queue.expect(start)
  else
    places.put(item, item.attempts or item.assignee)
  end
end

-- Notes that an assignment that is assigned to a person was handed out before: the next one exists.
local function release(item)
  queue.token, item.attempts = queue.token + 1, 1
  queue.count('reserved') -- not a lease
  grants.write(item.member, { token = stamp(queue.token), person = items.assignee(item),
    granted = queue.now, seconds = queue.lease_seconds, attempt = 1, ending = 'released', ended = queue.now, detail = '' })
end

if form then forms.add(first.form, form) end
local round, late_list = 1, {}
for i = 9, #ARGV, 6 do
  local person, token, at, is_late, is_counted, answer = unpack(ARGV, i, i + 5)
  if is_counted == '1' then
    local item = assignment(round)
    item.attempts = 1
    items.write(item)
    grants.write(item.member, { token = token, person = person, granted = at + 0, seconds = queue.lease_seconds, attempt = 1,
      ending = 'finished', ended = at + 0, detail = is_late, answer = answer,
      special = (first.form or first.asked) and '' })
    redis.call('ZADD', keys.finished, at, item.member)
    relations.set(id, person, '=')
    round = round + 1
  else
    late_list[#late_list + 1] = { token = token, person = person, arrived = at + 0, result = answer }
  end
end
if round > 1 or first.expires or string.find(people, '\t.') then shelves.mix() end
late_answers.write(id, late_list)
if people == '' then put(assignment(round)) end
for person, rest in string.gmatch(people, '([^\t]+)\t()') do
  local item = assignment(round)
  relations.assign(id, person)
  items.reserve_for(item, person)
  if rest <= #people then release(item) end
  put(item)
  round = round + 1
end
if state ~= 'dead' then
  places.enter_due(id)
  if first.expires and not (first.asked and redis.call('ZSCORE', keys.finished, id)) then places.enter_expiring(first) end
end
journal.note('restored', id, '', by)
commit()
return { 'ok', 1 }
