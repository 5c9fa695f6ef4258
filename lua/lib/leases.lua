--- @include grants
--- @include holdings
--- @include places
--- @include drafts
--- @include journal
-- How a lease begins and ends.
local leases = {}

-- The assignment of an item whose latest grant has this token and this person, and that grant; nil without
-- one. There is no further assignment after one that nobody was granted yet.
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

-- The same, but also for earlier grants; returns the text of the grant. Without a person, the grant may be
-- anybody's.
function leases.find(id, token, person)
  for _, member in ipairs(items.assignments(id)) do
    local list = grants.read_all(member)
    local place = grants.find(list, token, person)
    if place then return member, list[place] end
  end
end

-- The held assignment that a token names, with its grant; or nil, nil and the grant if the same call ended it
-- before, even if others have been granted the item since.
function leases.find_held(id, token, person, ending)
  local member, grant = leases.latest(id, token, person)
  if grants.is_held(grant) then return member, grant end
  local _, text = leases.find(id, token, person)
  local ended_grant = text and grants.parse(text)
  return nil, nil, ended_grant and ended_grant.ending == ending and ended_grant or nil
end

-- How many of a person's leases have not run out.
function leases.count_live(held_leases)
  local count = 0
  for _, member in ipairs(held_leases) do
    if grants.expires(grants.latest(member)) > queue.now then count = count + 1 end
  end
  return count
end

-- Creates the next assignment of an item, when this one is handed out for the first time or, with `is_missing`, if it
-- was handed out before.
function leases.add_assignment(item, is_missing)
  local round = items.round(item.member) + 1
  local member = items.id(item.member) .. '\a' .. round
  if item.attempts and not is_missing or round > (item.answers or queue.rules.answers) + 0 then return end
  if redis.call('HEXISTS', keys.items, member) == 1 then return end
  places.put({ member = member, enqueued = item.enqueued, priority = item.priority, max_attempts = item.max_attempts,
    answers = item.answers, due = item.due, requires = item.requires, form = item.form, asked = item.asked, payload = '' }, false)
end

-- Makes the new grant of an assignment, and returns it with the draft; the earlier grant goes into the
-- history.
function leases.prepare(item, person)
  if item.attempts then grants.keep_latest(item.member) end
  local draft = (item.has_draft or queue.mode ~= 'open') and drafts.read(items.id(item.member), person)
  return { person = person, seconds = queue.lease_seconds, attempt = (item.attempts or 0) + 1,
    draft = (item.has_draft or draft) and '', due = item.due and '', special = (item.form or item.asked) and '' }, draft
end

-- Grants a person the assignment, and adds it to what they hold, at `place` or at the end. The caller removes
-- it from the set that it was in. Returns the grant as stored.
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

-- A lease as a reply: {'leased', id, grant, record, draft or nil, the item's own form or nil}.
function leases.reply(item, grant, draft)
  return { 'leased', items.id(item.member), grant, items.full_record(item.member, item.record), draft or item.form and false, item.form and redis.call('HGET', keys.forms, item.form) }
end

-- Ends a lease, and counts the attempt in `item`. The caller writes the item and puts it where it belongs
-- now.
function leases.close(item, grant, ending, detail)
  grant.ending, grant.ended, grant.detail = ending, queue.now, detail or ''
  grants.write(item.member, grant)
  local held_leases = holdings.read(grant.person)
  if holdings.remove(held_leases, item.member) then holdings.write(grant.person, held_leases) end
  item.attempts = grant.attempt
  if grant.draft then item.has_draft = '' end
end

-- The earlier reply of an undo that is sent again after a lost reply; nil if there is none.
function leases.undo_reply(id, person, request)
  for _, member in ipairs(items.assignments(id)) do
    local grant = grants.latest(member)
    if grants.is_held(grant) and grant.person == person and grant.undo == request then
      return leases.reply(items.read(member), grants.format(grant), drafts.read(id, person))
    end
  end
end
