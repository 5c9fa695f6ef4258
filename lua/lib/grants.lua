--- @include queue
--[[ A grant: one time that a person got an assignment, and how it ended. The latest one of an assignment is in the
ledger's field `g:<assignment>`; the earlier ones are in the hash `history`, oldest first.

grant   = token TAB person TAB granted " " lease_seconds " " attempt *(" " letter value) [LF ending]
letter  x when it runs out, if it was renewed | n how often it was renewed | u the request of the undo that
        made it | w there is a draft | d the item has a due date | m it was moved here from another
        assignment of the item, and counts as an attempt of that one | a a manager adopted its answer, or
        gave it as a correction | q the request that last renewed it, or that adopted its answer | b the sign
        of the person's relation to the item that the abandon replaced: an undo restores it
        | s the item has a form of its own, or somebody waits for its answer
ending  = ("expired" | "released" | "corrected") " " time
        | "undone " time [" " ("abandoned" | "failed") " " reason]
        | ("abandoned" | "reopened") " " time " " reason
        | "failed " time " " due " " error
        | "finished " time " " late LF answer
history = grant *(LF LF grant)

Times are in microseconds; undone without a word: a finish was undone; due is when the item is tried again, 0 if it is not; late is 0 or 1; reason, error
and answer are JSON. Only these and the person's name may contain spaces, and no value contains a newline. ]]
local grants = {}
-- For the ordinary cases of reserve and finish. ANSWERED: what a finish in time adds to the text of a grant.
--- @constant CLAIM(token, person) token .. '\t' .. person .. '\t'
--- @constant FIRST_GRANT(token, person, granted, lease_seconds) token .. '\t' .. person .. '\t' .. granted .. ' ' .. lease_seconds .. ' 1'
--- @constant TERMS_PATTERN '^(%d+) %S+ %d+([^\n]*)$'
--- @constant ANSWERED(time, answer) '\nfinished ' .. time .. ' 0\n' .. answer
local MARKS = 'xnuwdmaqbs' -- in this order
local NAMES_OF_MARKS = { x = 'expires', n = 'renewals', u = 'undo', w = 'draft', d = 'due', m = 'moved', a = 'adopted',
  q = 'request', b = 'relation', s = 'special' }
local HISTORY_BYTES = 65536 -- of an assignment, to keep calls short; the latest grant always fits

-- `ending` is nil for a grant that is held.
function grants.parse(text)
  local token, person, granted, seconds, attempt, marks, rest =
    string.match(text, '^(%d+)\t([^\t]*)\t(%d+) (%S+) (%d+)([^\n]*)(.*)$')
  local grant = { token = token, person = person, granted = granted + 0, seconds = seconds, attempt = attempt + 0 }
  for letter, value in string.gmatch(marks, ' (%l)(%S*)') do grant[NAMES_OF_MARKS[letter]] = value end
  local ending, ended, detail, answer = string.match(rest, '^\n(%l+) (%d+) ?([^\n]*)\n?(.*)$')
  if ending then
    grant.ending, grant.ended, grant.detail, grant.answer = ending, ended + 0, detail, answer
  end
  return grant
end

function grants.format(grant)
  local marks = ''
  for letter in string.gmatch(MARKS, '%l') do
    local value = grant[NAMES_OF_MARKS[letter]]
    if value then marks = marks .. ' ' .. letter .. value end
  end
  local text = string.format('%s\t%s\t%d %s %d%s', grant.token, grant.person, grant.granted, grant.seconds,
    grant.attempt, marks)
  if not grant.ending then return text end
  text = text .. '\n' .. grant.ending .. ' ' .. stamp(grant.ended) .. (grant.detail ~= '' and ' ' .. grant.detail or '')
  return grant.ending == 'finished' and text .. '\n' .. grant.answer or text
end

function grants.latest(member)
  local text = redis.call('HGET', keys.ledger, 'g:' .. member)
  return text and grants.parse(text) or nil
end

function grants.write(member, grant) redis.call('HSET', keys.ledger, 'g:' .. member, grants.format(grant)) end

function grants.is_held(grant) return grant ~= nil and not grant.ending end

function grants.expires(grant) return grant.expires and grant.expires + 0 or grant.granted + grant.seconds * 1000000 end

function grants.is_of(grant, token, person) return grant ~= nil and grant.token == token and grant.person == person end

function grants.finish(grant, time, late, answer)
  grant.ending, grant.ended, grant.detail, grant.answer = 'finished', time, late and '1' or '0', answer
end

-- Makes a grant what it was before it ended.
function grants.reopen(grant)
  grant.ending, grant.ended, grant.detail, grant.answer = nil, nil, nil, nil
  return grant
end

-- The texts of an assignment's earlier grants.
function grants.read_history(member)
  local list, history = {}, redis.call('HGET', keys.history, member)
  for text in string.gmatch(history and history .. '\n\n' or '', '(.-)\n\n') do list[#list + 1] = text end
  return list
end

function grants.write_history(member, list)
  if list[1] then redis.call('HSET', keys.history, member, table.concat(list, '\n\n')) else redis.call('HDEL', keys.history, member) end
end

-- The texts of all grants of an assignment.
function grants.read_all(member)
  local list = grants.read_history(member)
  list[#list + 1] = redis.call('HGET', keys.ledger, 'g:' .. member) or nil
  return list
end

-- The place in a list of texts of the latest grant with a token and, if given, a person.
function grants.find(list, token, person)
  local claim = token .. '\t' .. (person and person .. '\t' or '')
  for i = #list, 1, -1 do
    if string.sub(list[i], 1, #claim) == claim then return i end
  end
end

-- Adds an assignment's latest grant to its history. If there is no room, the oldest are dropped.
function grants.keep_latest(member)
  local history = redis.call('HGET', keys.history, member)
  local text = (history and history .. '\n\n' or '') .. redis.call('HGET', keys.ledger, 'g:' .. member)
  while #text > HISTORY_BYTES do text = string.match(text, '\n\n(.*)$') end
  redis.call('HSET', keys.history, member, text)
end

-- Whether a person had one of an assignment's earlier grants.
function grants.has_had(member, person)
  local history = redis.call('HGET', keys.history, member)
  return history ~= false and string.find(history, '\t' .. person .. '\t', 1, true) ~= nil
end

-- Replaces a person's name in an assignment's earlier grants. Returns whether it occurred.
function grants.rename(member, person, to)
  if not grants.has_had(member, person) then return false end
  local list = grants.read_history(member)
  for i, text in ipairs(list) do
    local grant = grants.parse(text)
    if grant.person == person then
      grant.person = to
      list[i] = grants.format(grant)
    end
  end
  grants.write_history(member, list)
  return true
end
