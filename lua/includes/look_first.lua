-- Before the next item: takes back a few leases that ran out, so that a dead clear job keeps nobody
-- waiting, and looks into the person's hands.
if done then
  --- @include write_finish
  done = nil
  now = now + 1
  at = string.format('%.0f', now)
end
--- @include other_keys
--- @include rules
local events = {}
--- @include save
--- @include shelves
--- @include item
--- @include place
--- @include grant
--- @include held
--- @include note
--- @include end_grant
--- @include sweep
--- @include draft
--- @include lease_in_hand
if now >= soonest + 0 then sweep(8) end
holdings = call('HGET', LEDGER, 'p:' .. person)
if holdings then
  reply = lease_in_hand(person, request, holdings)
  holdings = call('HGET', LEDGER, 'p:' .. person)
end
if events[1] then
  at = string.format('%.0f', now)
  save_tick()
  call('XADD', JOURNAL, at, unpack(events))
  now = now + 1
  at = string.format('%.0f', now)
end
