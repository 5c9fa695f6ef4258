--- @include items
--- @include grants
--[[ The decision on an item: what its answer is, and who or what settled that. In the hash `decisions`, by the item's id:

decision = time TAB how TAB agreement TAB by TAB tokens LF result

agreement  the share of the answers that agree, or ''
by         who settled it, with nothing for nobody
tokens     of the answers that it is about, ascending, separated by commas: it counts only while the item has these
result     JSON ]]
local decisions = {}

-- The tokens of the answers that count.
function decisions.tokens(id)
  local tokens = {}
  for _, member in ipairs(items.assignments(id)) do
    local grant = grants.latest(member)
    if grant and grant.ending == 'finished' then tokens[#tokens + 1] = grant.token end
  end
  table.sort(tokens, function(a, b) return a + 0 < b + 0 end)
  return table.concat(tokens, ',')
end

function decisions.read(id) return redis.call('HGET', keys.decisions, id) end

-- Replaces the name of the person who settled it. Returns whether it was theirs.
function decisions.rename(id, person, to)
  local head, by, tail = string.match(decisions.read(id) or '', '^(%d+\t[^\t]*\t[^\t]*\t)([^\t]*)(\t.*)$')
  if by ~= person then return false end
  redis.call('HSET', keys.decisions, id, head .. to .. tail)
  return true
end
