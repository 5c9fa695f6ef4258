-- What becomes of a waiter after a reserve. Who got something leaves the line; who got nothing stands in
-- it, and if they were woken for something that is not for them, the next in line is woken for it.
--- @include line
if reply and reply[1] == 'leased' then
  leave_line(waiter)
  -- one that they held already: what they were woken for is there still
  if woken == '1' and not record and (shelves ~= '' or open == 'mixed') and open ~= 'paused' then wake(1) end
elseif not reply then
  local again = stand_in_line(waiter)
  if woken == '1' and (shelves ~= '' or open == 'mixed') and open ~= 'paused' then wake(1, waiter) end
  return { 'nothing', again, token }
end
