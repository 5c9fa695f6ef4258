--- @include queue
--[[ The record of an assignment, in the hash `items`: all that is known about it except its grants.

record  = enqueued *(" " letter value) LF payload
letter  a attempts | f failures | n how many answers it needs, if that is not the policy's
        | x it dies when it comes back | m max_attempts | p priority | d due, in microseconds
        | c why nobody needs it any more: expired, or the reason of a cancel as JSON, with \a for a space
        | e until when its answer is needed, in microseconds | g the version of its own form
        | q somebody waits for its answer: who asked, with \a for a
        space, or nobody in particular | r required skills, separated by commas
        | o the only person who may have it, with \a for a space
        | s its shelf, if that is not `normal` | w somebody has a draft of it
        | v the token of the queue's latest grant when the payload was changed: an answer under this token or an
        earlier one is a late answer | z only in what enqueue and restore are given, never stored: how long it is
        scheduled, or @ and until when

What enqueue and restore are given has, for e, either that or + and how long from now; for g, the version, a colon
and the form as JSON, with \a for a space. What load_items is given has the same for g.

enqueued  the time in milliseconds: 11 hexadecimal digits
payload   JSON; empty for the second and later assignments of an item

An item that several people are to answer has an assignment for each of them: a member of the sets, with a
record, a grant and a history of its own. The first is named by the item's id, the k-th by the id, \a and k.
Payload, failures and late answers are stored with the first. The k-th is created when the one before it is
handed out, so that every item gets its first answer before any gets its second. ]]
local items = {}
-- Whether a record is that of an item that nobody has had, without a due date: after its time there is a newline, or
-- there are only a priority, max_attempts of its own and the shelf, whose name has no q.
--- @constant IS_NEW(record) (string.byte(record, 12) == 10 or string.find(record, '^%x+ ?[mp]?%d* ?[mp]?%d* ?s?[a-pr-z]*\n'))
local LETTERS = 'acefgnqxmpdroswvz' -- in this order
local NAMES = { a = 'attempts', c = 'ended', e = 'expires', f = 'failures', g = 'form', n = 'answers', q = 'asked', x = 'dies',
  m = 'max_attempts', p = 'priority', d = 'due', r = 'requires', o = 'assignee', s = 'shelf', w = 'has_draft',
  v = 'changed_at', z = 'start' }

function items.parse(member, record)
  local enqueued, head, payload = string.match(record, '^(%x+)([^\n]*)\n(.*)$')
  local item = { member = member, record = record, enqueued = enqueued, payload = payload }
  for letter, value in string.gmatch(head, ' (%l)(%S*)') do item[NAMES[letter]] = value end
  return item
end

function items.format(item)
  local head = { item.enqueued }
  for letter in string.gmatch(LETTERS, '%l') do
    local value = item[NAMES[letter]]
    if value then head[#head + 1] = letter .. value end
  end
  return table.concat(head, ' ') .. '\n' .. item.payload
end

-- When a new item may be reserved, from the letter z of its head, which is removed. Nil if that is now.
function items.take_start(item, now)
  local at_mark, number = string.match(item.start or '', '^(@?)(%d+)$')
  item.start = nil
  local start = number and (at_mark == '@' and 0 or now) + number
  return start and start > now and start or nil
end

-- Makes the time until which a new item's answer is needed, from what enqueue was given, an absolute one.
function items.fix_expiry(item)
  local length = string.match(item.expires, '^+(%d+)$')
  if length then item.expires = stamp(queue.now + length) end
end

-- The time of the enqueue in the form of a record.
function items.enqueued(now) return string.format('%011x', now / 1000) end

function items.read(member)
  local record = redis.call('HGET', keys.items, member)
  return record and items.parse(member, record) or nil
end

function items.write(item) redis.call('HSET', keys.items, item.member, items.format(item)) end

function items.id(member) return string.match(member, '^[^\a]*') end

function items.round(member) return tonumber(string.match(member, '\a(%d+)$') or 1) end

-- The members of an item's assignments.
function items.assignments(id)
  local members = { id }
  while queue.mode ~= 'open' do
    local next_member = id .. '\a' .. (#members + 1)
    if redis.call('HEXISTS', keys.items, next_member) == 0 then break end
    members[#members + 1] = next_member
  end
  return members
end

-- An assignment's record as callers get it: its own head and the item's payload.
function items.full_record(member, record)
  local id = items.id(member)
  record = record or redis.call('HGET', keys.items, member)
  if id == member then return record end
  return string.match(record, '^[^\n]*') .. string.match(redis.call('HGET', keys.items, id), '\n.*$')
end

-- A name as it is in a head.
--- @constant IN_HEAD(name) (string.gsub(name, ' ', '\a'))

function items.reserve_for(item, person) item.assignee = IN_HEAD(person) end

-- The person to whom it is assigned, or nil.
function items.assignee(item) return item.assignee and (string.gsub(item.assignee, '\a', ' ')) end

function items.is_for(item, person) return item.assignee == IN_HEAD(person) end
