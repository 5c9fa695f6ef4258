-- Before the next item: takes back a few leases that ran out, so that a dead clear job keeps nobody
-- waiting, and looks into the person's hands.
-- Needs: what take.lua needs. Sets: reply, holdings, tab, and after what it did now, at and the status.
if done then
  --- @include write_finish
  done = nil
  now = now + 1
  at = string.format('%.0f', now)
end
--- @include other_keys
--- @include rules
--- @include save
--- @include note
--- @include assignments
--- @include shelves
--- @include item
--- @include place
--- @include grant
--- @include held
--- @include end_grant
--- @include where
--- @include die
--- @include sweep
--- @include draft
--- @include lease_in_hand
local swept = now >= soonest + 0
if swept then sweep(8) end
holdings = call('HGET', LEDGER, 'p:' .. person)
if holdings then
  reply = lease_in_hand(person, request, holdings)
  holdings = call('HGET', LEDGER, 'p:' .. person)
end
tab = holdings and string.find(holdings, '\t', 1, true)
if swept or events[1] then
  at = string.format('%.0f', now)
  save()
  if events[1] then call('XADD', JOURNAL, at, unpack(events)) end
  now = now + 1
  at = string.format('%.0f', now)
end
if swept and waiter and woken == '0' and not reply then -- what came back may have woken others
  --- @include wait_turn
end
