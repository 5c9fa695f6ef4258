-- An item that several people are to answer has an assignment for each: a member of the sets with a
-- record, a grant and a history of its own. The first goes by the item's id, the k-th by the id, \a and
-- k. The k-th comes into being when the one before it is first handed out, so every item gets its first
-- answer before any gets its second. Payload, failures and late answers are the item's, in the first.
local function item_of(member) return string.match(member, '^[^\a]*') end

local function round_of(member) return (string.match(member, '\a(%d+)$') or 1) + 0 end

local function assignments(id)
  local members = { id }
  if open ~= 'open' then
    local following = id .. '\a2'
    while call('HEXISTS', ITEMS, following) == 1 do
      members[#members + 1] = following
      following = id .. '\a' .. (#members + 1)
    end
  end
  return members
end

-- The assignment that a caller's token names, and its grant.
local function assignment_of(id, claim)
  local members = assignments(id)
  for _, member in ipairs(members) do
    local grant = call('HGET', LEDGER, 'g:' .. member)
    if #members == 1 or grant and string.sub(grant, 1, #claim) == claim then return member, grant end
  end
  return id, false
end

-- What a caller is given as an assignment's record: its head, and the item's payload.
local function payload_of(member, record)
  local id = item_of(member)
  if id == member then return record end
  return string.match(record, '^[^\n]*') .. string.match(call('HGET', ITEMS, id), '\n.*$')
end
