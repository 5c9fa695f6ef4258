-- One item for a person: what a lost reply already gave them, else one they hold where their hands
-- are full, else the next that waits. First it takes back a few leases that ran out, so that a dead
-- clear job keeps nobody waiting.
local SWEEP = 8

local function held_lease(id, grant, person)
  local draft = has_draft(grant) and draft_for(id, person)
  return { 'leased', id, grant, call('HGET', ITEMS, id), draft }
end

local function held_by(person, holdings)
  local ids, grants = {}, {}
  for id in string.gmatch(holdings, '\t([^\t]+)') do
    local grant = call('HGET', LEDGER, 'g:' .. id)
    if expiry_of(grant) > now then
      ids[#ids + 1], grants[#grants + 1] = id, grant
    else
      expire(id, now)
      now = now + 1
    end
  end
  return ids, grants
end

local function reserve_for(person, request, holdings)
  if soonest and now >= soonest + 0 then
    write_changes()
    sweep(SWEEP)
    holdings = call('HGET', LEDGER, 'p:' .. person)
  end
  if holdings and string.find(holdings, '\t', 1, true) < #holdings then
    write_changes()
    local ids, grants = held_by(person, holdings)
    local n = #ids
    if n > 0 and string.sub(holdings, 1, #request + 1) == request .. '\t' then
      return held_lease(ids[n], grants[n], person)
    end
    if n >= holds + 0 then return held_lease(ids[1], grants[1], person) end
    holdings = call('HGET', LEDGER, 'p:' .. person)
  end
  if now > at + 0 then at = string.format('%.0f', now) end
  if paused then return { 'nothing' } end
  return take(person, request, holdings)
end
