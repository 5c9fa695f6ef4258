#!lua flags=allow-oom
--[[ Rejects an answer: its assignment waits again, before all that were never handed out, for anybody or for
one person only. The answer becomes a late answer, so that it can be seen and adopted, and the draft of the
person who gave it.

KEYS   as adopt.lua
ARGV   1 the time in microseconds, or ''   2 id   3 the answer's token   4 by whom, or ''
       5 the person to assign it to, or ''   6 the reason as JSON
REPLY  {'item', the item}   {'no-answer'}: no answer has that token
       {'dead'}: another assignment of it is dead, and this one would die, too
       {'answered'}: that person answered or holds another one of its assignments
       {'rows', how many rows may wait at the same time}   {'no-item'}   {'no-queue'} ]]
local id, token, by, to, reason = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
--- @include answers
--- @include describe
local refusal = queue.open()
if refusal then return refusal end
if not items.read(id) then return { 'no-item' } end
local member, grant = answers.find(id, token)
if not member then
  local _, text = leases.find(id, token)
  local is_reopened = text and grants.parse(text).ending == 'reopened' -- the call was sent again
  return is_reopened and { 'item', describe(id) } or { 'no-answer' }
end
if places.has_dead(id) then return { 'dead' } end
if to ~= '' and answers.has_another(id, member, to) then return { 'answered' } end
if to ~= '' and shelves.too_many_rows({ ['@' .. to] = true }) then return { 'rows', shelves.ROW_LIMIT } end

answers.keep_as_late(id, grant)
drafts.write(id, grant.person, grant.answer)
local item = items.read(member)
item.attempts = grant.moved and item.attempts or math.max(item.attempts or 0, grant.attempt) -- an adopted one may be older
item.has_draft, item.assignee = '', nil
grant.ending, grant.ended, grant.detail, grant.adopted = 'reopened', queue.now, reason, nil
grants.write(member, grant)
answers.forget(id, grant.person, member)
for _, text in ipairs(grants.read_history(member)) do -- people whose answers were corrected
  local past_grant = grants.parse(text)
  if past_grant.ending == 'corrected' and not answers.has_another(id, member, past_grant.person) then
    answers.forget(id, past_grant.person, member)
  end
end
local first = member == id and item or items.read(id)
if first.expires or first.ended then
  places.need_again(first)
  if first ~= item then items.write(first) end
end
queue.count('reopened')
journal.note('reopened', id, token, by, reason)
if to ~= '' then
  answers.forget(id, to, member) -- their answer may have been replaced
  assigning.assign(item, to)
  queue.count('assigned')
  journal.note('assigned', id, '', by, cjson.encode(to))
end
if not places.put(item, true) then -- else the item has as many answers without it
  places.enter_due(id, nil)
  redis.call('ZREM', keys.finished, member)
end
commit()
return { 'item', describe(id) }
