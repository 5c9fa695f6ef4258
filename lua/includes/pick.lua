-- Splits blocks with a blank line between; the latest one that begins with the token apart from the
-- others.
local function pick(text, token)
  local picked, blocks = nil, {}
  for block in string.gmatch((text or '') .. '\n\n', '(.-)\n\n') do
    if block ~= '' then
      blocks[#blocks + 1] = block
      if string.match(block, '^%d+') == token then picked = #blocks end
    end
  end
  return picked and table.remove(blocks, picked), blocks
end
