#!lua flags=no-writes
--[[ Why a reserve would get nothing now.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items  3 leaseq:{q}:inbound  4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled
ARGV   1 the time in microseconds, or ''   2 person   3 skills as for reserve, or ''
REPLY  {'something'}   {'paused', reason as JSON}
       {'not-eligible', when the first may come free, or '', 0|1 some is assigned to others, 0|1 they passed
       some over, then of each other set of skills in use those that they lack}
       {'held', when the first may come free}   {'empty', when the first scheduled one is due, or ''}
       {'no-queue'} ]]
local person, skills = ARGV[2], ARGV[3]
--- @include claims
--- @include choose
--- @include inbound

-- Why what waits in these rows is not for the person: 1 where some of it is assigned to somebody else, or 0; 1 where they
-- have the skills for some, and passed it over, or 0; and of each other row the skills that they lack.
local function obstacles(rows)
  local has, assigned, passed, lacking = {}, 0, 0, {}
  for skill in string.gmatch(skills, '[^,]+') do has[skill] = true end
  for row in pairs(rows) do
    local missing, is_assigned = {}, string.sub(row, 1, 1) == '@'
    for skill in string.gmatch(is_assigned and '' or row, '[^+]+') do
      if not has[skill] then missing[#missing + 1] = skill end
    end
    if is_assigned and row ~= '@' .. person then
      assigned = 1
    elseif missing[1] then
      lacking[#lacking + 1] = table.concat(missing, ',')
    else
      passed = 1
    end
  end
  return assigned, passed, unpack(lacking)
end

local refused = queue.open(true)
if refused then return refused end
local held, paused = holdings.read(person), redis.call('HGET', keys.ledger, 'paused')
if claims.count_live(held) >= queue.rules.holds + 0 then return { 'something' } end
if paused then return { 'paused', paused } end
local rows = {}
inbound.each(function(row, shelf)
  if not rows[row] and redis.call('EXISTS', shelves.key(row, shelf)) == 1 then rows[row] = true end
end)
if next(rows) then
  local found, more = choose(person, skills, held)
  if found or more then return { 'something' } end
end
local ends = redis.call('ZRANGE', keys.reserved, 0, 0, 'WITHSCORES')[2]
local due = redis.call('ZRANGE', keys.scheduled, 0, 0, 'WITHSCORES')[2]
local first = math.min(tonumber(ends or math.huge), tonumber(due or math.huge))
if first <= queue.now then return { 'something' } end
local free = first < math.huge and stamp(first) or ''
if next(rows) then return { 'not-eligible', free, obstacles(rows) } end
if ends then return { 'held', free } end
return { 'empty', due or '' }
