-- Keeps an answer that came too late, where its token really was granted to that person.
--- @include item_limits
local function keep_late(id, claim, result)
  if not past_of(id, claim) then return false end
  local answer = claim .. at .. '\n' .. result
  local kept = call('HGET', LATE, id)
  -- Sent twice, kept once: only the time of arrival may differ.
  if kept then
    for known, same in string.gmatch(kept .. '\n\n', '(%d+\t[^\t]*\t)%d+\n(.-)\n\n') do
      if known == claim and same == result then return true end
    end
  end
  if kept and #kept + #answer > LATE_BYTES then return false end
  call('HSET', LATE, id, kept and kept .. '\n\n' .. answer or answer)
  count('late')
  save()
  call('XADD', JOURNAL, at, 'late', id .. '\t' .. string.sub(claim, 1, -2))
  return true
end
