-- Ends a held grant: notes how, takes the item out of the person's hands and marks a draft they left,
-- and counts the attempt on the item (which the caller writes).
local function end_grant(item, grant, ending)
  local token, person, attempt = string.match(grant, '^(%d+)\t([^\t]*)\t%d+ %S+ (%d+)')
  call('HSET', LEDGER, 'g:' .. item.id, grant .. '\n' .. ending)
  unhold(person, item.id)
  item.a = attempt
  if has_draft(grant) then item.w = '' end
  return token, person
end
