-- Forgets what is left of people who are gone, and of what they passed over: one bounded step in each call of clear
-- while a walk goes on; the next walk begins DAY after. The ledger's `tidy` is when the next step is to be done, what
-- is walked through (people: the ledger's `p:` fields; looks: CURSORS), where the step begins (HSCAN's cursor), and
-- how many of its entries were looked at before. Where the server starts anew in the middle of a walk, it may pass
-- over some: the next one finds them.
local DAY = 86400000000
local PERSON_KEPT, LOOKS_KEPT = 7 * DAY, 90 * DAY
local FIELDS = 50 -- of one step through the ledger, which has the answers, too
local PERSONS, COMMANDS, WINDOW = 10, 300, 50 -- of one step through CURSORS; of a person's `later` set

-- A person who holds nothing: their last request id, which is of use only beside what it gave them, is replaced by
-- when they were found so. Whether they passed items over is found out anew when they are back: see take.lua.
local function tidy_people(from)
  local step = call('HSCAN', LEDGER, from, 'MATCH', 'p:*', 'COUNT', FIELDS)
  for i = 1, #step[2], 2 do
    local field, line = step[2][i], step[2][i + 1]
    local since = string.match(line, '^ ?idle%-(%d+)\t$')
    if since and now - since >= PERSON_KEPT then
      call('HDEL', LEDGER, field)
    elseif not since and string.find(line, '\t', 1, true) == #line then
      call('HSET', LEDGER, field, string.match(line, '^ ?') .. 'idle-' .. at .. '\t')
    end
  end
  return step[1]
end

-- Takes out of a `later` set what is no longer there for the person, or all of it: at most WINDOW items, of a larger
-- set now these and now those. Gives how many are left, how many were looked at, and whether many more are to go.
local function tidy_later(row, person, all)
  local key, gone = later_key(row, person), {}
  local size = call('ZCARD', key)
  local from = size > WINDOW and now % (size - WINDOW + 1) or 0
  local members = call('ZRANGE', key, from, from + WINDOW - 1)
  for _, member in ipairs(members) do
    if all or not waits_for(member, row, person) then gone[#gone + 1] = member end
  end
  if gone[1] then call('ZREM', key, unpack(gone)) end
  return size - #gone, #members, size > WINDOW and #gone > WINDOW / 2
end

-- A person's cursor on a shelf is of use while an entry before it waits there, or items that they put off. One who
-- is away for LOOKS_KEPT looks at everything anew. Gives about how many commands it took, whether many more of
-- their items are to go, and whether anything is kept.
local function tidy_looks(person, text)
  local idle = string.match('\n' .. text, '\nidle\t(%d+)\n')
  local away = idle and now - idle >= LOOKS_KEPT
  local left, kept, used, more = {}, '', 1, false
  for path, score in string.gmatch(text, '([^\n]*:[^\n]*)\t(%d+)\n') do
    local row = string.match(string.gsub(string.gsub(path, ':returned$', ''), ':%d+$', ''), '^(.*):%l+$')
    if not left[row] then
      local looked, again
      left[row], looked, again = tidy_later(row, person, away)
      used, more = used + 2 + looked * 3, more or again
    end
    local first = not away and call('ZRANGE', shelf_key(row, string.sub(path, #row + 2)), 0, 0, 'WITHSCORES')[2]
    used = used + 1
    if left[row] > 0 or (first and first + 0 <= score + 0) then kept = kept .. path .. '\t' .. score .. '\n' end
  end
  if kept == '' then
    call('HDEL', CURSORS, person)
  else
    call('HSET', CURSORS, person, kept .. 'idle\t' .. (idle or at) .. '\n')
  end
  return used, more, kept ~= ''
end

-- Gives where the next step begins, behind how many of its entries, and whether there is one.
local function tidy_cursors(from, done)
  local step, left = call('HSCAN', CURSORS, from, 'COUNT', PERSONS), COMMANDS
  for i = 1 + 2 * done, #step[2], 2 do
    if left <= 0 then return from, done, true end
    local used, more, stays = tidy_looks(step[2][i], step[2][i + 1])
    if more then return from, done, true end
    left, done = left - used, done + (stays and 1 or 0)
  end
  return step[1], 0, step[1] ~= '0'
end

-- Does the step that is due, and gives what the ledger's `tidy` is then. `state`: what it was; false for a queue of
-- a version that had none.
local function tidy(state)
  local through, from, done = string.match(state or '0 people 0 0', '^%d+ (%l+) (%d+) (%d+)$')
  local next_step = at
  if through == 'people' then
    from = tidy_people(from)
    if from == '0' then through = 'looks' end
  else
    local more
    from, done, more = tidy_cursors(from, done + 0)
    if not more then
      drop_empty_rows({})
      through, next_step = 'people', string.format('%.0f', now + DAY)
    end
  end
  return next_step .. ' ' .. through .. ' ' .. from .. ' ' .. done
end
