-- `soonest` in the ledger: no lease runs out and nothing comes due before it. It is a bound, so
-- taking something out leaves it alone; once it has passed, the sweep looks and sets it anew.
local function expect(time)
  if not soonest or time < soonest + 0 then
    soonest = string.format('%.0f', time)
    call('HSET', LEDGER, 'soonest', soonest)
  end
end
