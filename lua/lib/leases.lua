--- @include grants
--- @include holdings
--- @include places
--- @include drafts
--- @include blocks
--- @include journal
-- How a lease begins and ends.
local leases = {}

-- The assignment of an item whose latest grant has this token and this person, and that grant; nil without one. Behind
-- one that nobody was granted yet there is no other.
function leases.latest(id, token, person)
  local member, round = id, 1
  local grant = grants.latest(member)
  while grant and not grants.is_of(grant, token, person) and queue.mode ~= 'open' do
    round = round + 1
    member = id .. '\a' .. round
    grant = grants.latest(member)
  end
  if grants.is_of(grant, token, person) then return member, grant end
end

-- The same of a grant that may be an earlier one; gives the text of that. Without a person, of any.
function leases.find(id, token, person)
  for _, member in ipairs(items.assignments(id)) do
    local list = blocks.read(keys.history, member)
    list[#list + 1] = redis.call('HGET', keys.ledger, 'g:' .. member) or nil
    local at = blocks.find(list, token, person)
    if at then return member, list[at] end
  end
end

-- The next assignment of an item comes into being when one is handed out for the first time.
function leases.add_assignment(item)
  local round = items.round(item.member) + 1
  local member = items.id(item.member) .. '\a' .. round
  if item.attempts or round > queue.rules.answers + 0 then return end
  if redis.call('HEXISTS', keys.items, member) == 1 then return end
  places.put({ member = member, enqueued = item.enqueued, priority = item.priority, max_attempts = item.max_attempts,
    due = item.due, requires = item.requires, payload = '' }, false)
end

-- What a new grant of an assignment is to be, and the draft that comes along; its earlier grant joins the history.
function leases.prepare(item, person)
  if item.attempts then blocks.keep_latest_grant(item.member) end
  local draft = (item.has_draft or queue.mode ~= 'open') and drafts.read(items.id(item.member), person)
  return { person = person, seconds = queue.lease_seconds, attempt = (item.attempts or 0) + 1,
    draft = (item.has_draft or draft) and '', due = item.due and '' }, draft
end

-- Gives a person the assignment, as the last that they hold or at that place. The caller takes it out of the set that it
-- was in. Gives the grant as it is written.
function leases.begin(member, grant, held_leases, place)
  queue.token = queue.token + 1
  grant.token, grant.granted = stamp(queue.token), queue.now
  table.insert(held_leases, place or #held_leases + 1, member)
  held_leases.idle = nil
  redis.call('ZADD', keys.reserved, grants.expires(grant), member)
  local text = grants.format(grant)
  redis.call('HSET', keys.ledger, 'g:' .. member, text, 'p:' .. grant.person, holdings.format(held_leases))
  queue.expect(grants.expires(grant))
  return text
end

-- Ends a lease, and counts the attempt on the item. The caller writes that, and puts it where it belongs now.
function leases.close(item, grant, ending, detail)
  grant.ending, grant.ended, grant.detail = ending, queue.now, detail or ''
  grants.write(item.member, grant)
  local held_leases = holdings.read(grant.person)
  if holdings.remove(held_leases, item.member) then holdings.write(grant.person, held_leases) end
  item.attempts = grant.attempt
  if grant.draft then item.has_draft = '' end
end

-- A person who may not have an item again loses each of its assignments that is theirs alone: it goes back to its row.
-- `exempt_member`: the one that they had in hand. Gives whether there was any.
function leases.unassign(id, person, exempt_member)
  local was_assigned = false
  for _, member in ipairs(items.assignments(id)) do
    local item = member ~= exempt_member and items.read(member)
    if item and items.is_for(item, person) then
      local state, _, key = places.find(item)
      item.assignee, was_assigned = nil, true
      if state == 'inbound' then
        places.put(item, true)
        redis.call('ZREM', key, member)
      else
        items.write(item)
      end
    end
  end
  return was_assigned
end
