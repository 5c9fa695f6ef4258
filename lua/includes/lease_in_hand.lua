-- What a person's hands give at a reserve: what a lost reply already gave them, else one they hold
-- where their hands are full, else nothing. Their own leases that ran out are taken back first.
-- A line of holdings begins with a space for a person who passed items over.
local function lease_in_hand(person, request, holdings)
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
  local n, which = #ids, 1
  if n == 0 then return nil end
  if string.match(holdings, '^ ?([^\t]*)') == request then
    local latest = 0 -- of what a reserve gave: what came back to them by a renewal or an undo may stand behind it
    for i, grant in ipairs(grants) do
      local given = string.match(grant, '^%d+') + 0
      if given > latest and not mark_of(grant, 'u') then which, latest = i, given end
    end
  elseif n < holds + 0 then
    return nil
  end
  local id, grant = ids[which], grants[which]
  local item = item_of(id)
  return { 'leased', item, grant, payload_of(id, call('HGET', ITEMS, id)),
    has_draft(grant) and draft_for(item, person) }
end
