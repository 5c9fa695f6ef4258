#!lua flags=allow-oom
--[[ Deletes all that is stored about an item, whatever its state: record, answer, drafts, history.

KEYS   as adopt.lua
ARGV   1 the time in microseconds, or ''   2 id   3 by whom, or ''
       then, for a conditional call: 4 if: only while one of its assignments is in the state; unless: only
       while none is   5 the state; or 4 unread: only if no answer, late ones included, was given after a
       time   5 that time
REPLY  {'ok'}   {'wrong-state', the item}: the condition is not met   {'unread'}: there is such an
       answer   {'no-item'}   {'no-queue'} ]]
local id, by, condition, operand = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
--- @include forget
--- @include describe
local function is_in_state()
  for _, member in ipairs(items.assignments(id)) do
    if places.find(items.read(member)) == operand then return true end
  end
  return false
end

local function has_answer_after(time)
  for _, member in ipairs(items.assignments(id)) do
    local grant = grants.latest(member)
    if grant and grant.ending == 'finished' and grant.ended > time then return true end
  end
  return late_answers.has_since(id, time + 1)
end

local refusal = queue.open()
if refusal then return refusal end
if not items.read(id) then return { 'no-item' } end
if condition == 'unread' then
  if has_answer_after(operand + 0) then return { 'unread' } end
elseif condition and is_in_state() ~= (condition == 'if') then
  return { 'wrong-state', describe(id) }
end
local tokens = forget.item(id)
for i = 2, #tokens do
  queue.count('released')
  journal.note('released', id, tokens[i], by)
end
journal.note('removed', id, tokens[1] or '', by)
commit()
return { 'ok' }
