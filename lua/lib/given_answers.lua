--- @include leases
-- Answers that count.
local given_answers = {}

-- The assignment whose answer was given under a token, with its grant; nil if no answer of the item has that
-- token.
function given_answers.find(id, token)
  for _, member in ipairs(items.assignments(id)) do
    local grant = grants.latest(member)
    if grant and grant.token == token and grant.ending == 'finished' then return member, grant end
  end
end

-- Whether a person holds or answered an assignment of the item other than this one.
function given_answers.has_another(id, member, person)
  for _, other in ipairs(items.assignments(id)) do
    local grant = other ~= member and grants.latest(other)
    if grant and grant.person == person and (grants.is_held(grant) or grant.ending == 'finished') then return true end
  end
  return false
end

-- Turns an answer into a late one, so that it can be seen and adopted. The limit of late answers does not
-- apply.
function given_answers.keep_as_late(id, grant)
  local late_answers = blocks.read(keys.late, id)
  late_answers[#late_answers + 1] = grant.token .. '\t' .. grant.person .. '\t' .. stamp(grant.ended) .. '\n' .. grant.answer
  blocks.write(keys.late, id, late_answers)
end
