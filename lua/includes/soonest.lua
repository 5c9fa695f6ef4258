-- `soonest` is a bound: taking something out leaves it alone; once it has passed, the sweep looks and
-- sets it anew. The caller saves.
local function expect(time)
  if time < soonest + 0 then soonest = string.format('%.0f', time) end
end
