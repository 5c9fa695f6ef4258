-- Which set an assignment is in: its state, its score there, the set's key.
local function where(item)
  local sets = { reserved = RESERVED, scheduled = SCHEDULED, finished = FINISHED, dead = DEAD,
    inbound = shelf_key(row_of(item), item.s or 'normal') }
  for state, key in pairs(sets) do
    local score = call('ZSCORE', key, item.id)
    if score then return state, score, key end
  end
end
