-- The assignment that was once granted under a token, and what is known of that grant: one that is over
-- by now, or was and another followed.
local function past_of(id, claim)
  for _, member in ipairs(assignments(id)) do
    local grant = call('HGET', LEDGER, 'g:' .. member)
    if claims(grant, claim) then return member, grant end
    local history = call('HGET', HISTORY, member)
    for block in string.gmatch((history or '') .. '\n\n', '(.-)\n\n') do
      if claims(block, claim) then return member, block, history end
    end
  end
end

-- Takes one block out of blocks with a blank line between.
local function without_block(blocks, block)
  local first, last = string.find(blocks .. '\n\n', block .. '\n\n', 1, true)
  local rest = string.sub(blocks, 1, first - 1) .. string.sub(blocks, last + 1)
  return (string.gsub(rest, '\n\n$', ''))
end

-- Writes what is left of a field's blocks; without any the field goes.
local function keep_blocks(key, field, blocks)
  if blocks == '' then
    call('HDEL', key, field)
  else
    call('HSET', key, field, blocks)
  end
end
