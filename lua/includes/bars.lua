-- What an item is to people, in the hash BARS: a tab, then for each person a sign, the name and a tab. They
-- answered it (=) or said never again (-): they don't get it. They gave it back for later (~): they get
-- it when nothing else waits for them. Beside that: it was assigned to them (@).
local BARS = string.sub(LEDGER, 1, -7) .. 'bars'

local function bar_of(bars, person)
  for _, sign in ipairs({ '=', '-', '~' }) do
    local first, last = string.find(bars or '', '\t' .. sign .. person .. '\t', 1, true)
    if first then return sign, first, last end
  end
end

-- `sign` nil lifts the bar. An answer given can't be lifted. Gives the bars.
local function set_bar(id, person, sign)
  local bars = call('HGET', BARS, id) or '\t'
  local old, first, last = bar_of(bars, person)
  if old == '=' then return bars end
  if old then bars = string.sub(bars, 1, first) .. string.sub(bars, last + 1) end
  if sign then bars = bars .. sign .. person .. '\t' end
  call('HSET', BARS, id, bars)
  return bars
end

-- All but those who answered may have it again.
local function lift_bars(id)
  local bars = call('HGET', BARS, id)
  if not bars then return end
  local left = '\t'
  for kept in string.gmatch(bars, '\t([=@][^\t]+)') do left = left .. kept .. '\t' end
  call('HSET', BARS, id, left)
end

local function later_key(row, person) return string.sub(LEDGER, 1, -7) .. 'later:' .. row .. ':' .. person end
