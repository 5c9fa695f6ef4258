#!lua flags=allow-oom
--[[ One step of erasing a person. The first steps end their leases and forget what they passed over; then
each step replaces their name in some of the items, drops their drafts, and makes what was assigned to them
open to everybody. The journal stays as it is. An item that they were granted in the meantime is left as it
is, and the last step replies that all steps must be repeated.

KEYS   as adopt.lua
ARGV   1 the time in microseconds, or ''   2 person   3 the name in their place   4 by whom, or ''
       5 '' for the first step; else what the last step returned   6 about how many items
REPLY  {'step', what the next step gets: HSCAN's cursor, or leases: more of theirs must end first, or '' if
       this was the last; how many items named them; how many leases ended}
       {'again'}: the last step found that they came back: start over   {'no-queue'} ]]
local person, to, by, from, count = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
--- @include deaths
--- @include answers
--- @include decisions
local OWN_ROW = '@' .. person

-- Returns how many leases ended, and whether there are more.
local function release_all()
  local held_leases = holdings.read(person)
  for i, member in ipairs(held_leases) do
    if journal.is_full() then return i - 1, true end
    local first = items.read(items.id(member))
    deaths.release(member, grants.latest(member), by, deaths.has_died(first))
  end
  redis.call('HDEL', keys.ledger, 'p:' .. person)
  redis.call('HDEL', keys.stopped, person)
  for path in pairs(cursors.read(person)) do
    redis.call('UNLINK', cursors.later_key(shelves.parse_path(path), person))
  end
  redis.call('HDEL', keys.cursors, person)
  return #held_leases, false
end

-- Returns whether the item named the person. One that they hold again is left to the next round.
local function erase(id)
  local members, latest_grants = items.assignments(id), {}
  for i, member in ipairs(members) do
    latest_grants[i] = grants.latest(member)
    if grants.is_held(latest_grants[i]) and latest_grants[i].person == person then return false end
  end
  local is_named = assigning.open(id, person)
  for i, member in ipairs(members) do
    if latest_grants[i] and latest_grants[i].person == person then
      latest_grants[i].person, is_named = to, true
      grants.write(member, latest_grants[i])
    end
    is_named = grants.rename(member, person, to) or is_named
    local item = items.read(member)
    if item.asked == IN_HEAD(person) then
      item.asked, is_named = IN_HEAD(to), true
      items.write(item)
    end
  end
  is_named = late_answers.rename(id, person, to) or is_named
  is_named = relations.rename(id, person, to) or is_named
  is_named = decisions.rename(id, person, to) or is_named
  return drafts.drop(id, person) or is_named
end

-- Deletes what is left of their row. Returns whether they came back, or something was assigned to them, since
-- the first step; then nothing is deleted.
local function is_back()
  if redis.call('HEXISTS', keys.ledger, 'p:' .. person) == 1 or redis.call('HEXISTS', keys.cursors, person) == 1 then
    return true
  end
  for shelf in shelves.names(OWN_ROW) do
    if redis.call('EXISTS', shelves.key(OWN_ROW, shelf)) == 1 then return true end
  end
  redis.call('HDEL', keys.rows, OWN_ROW)
  cursors.drop_passed(OWN_ROW)
  return false
end

local refusal = queue.open()
if refusal then return refusal end
local named_count, ended_count = 0, 0
if from == '' or from == 'leases' then
  local has_more
  ended_count, has_more = release_all()
  if has_more then
    commit()
    return { 'step', 'leases', 0, ended_count }
  end
  from = '0'
end
local step = redis.call('HSCAN', keys.items, from, 'COUNT', count)
for i = 1, #step[2], 2 do
  local id = step[2][i]
  if id == items.id(id) and erase(id) then named_count = named_count + 1 end
end
local has_come_back = step[1] == '0' and is_back()
if named_count > 0 then queue.save() end -- items that went back to their row took a time
commit()
if has_come_back then return { 'again' } end
return { 'step', step[1] ~= '0' and step[1] or '', named_count, ended_count }
