#!lua flags=no-writes
--[[ Why a reserve would get nothing now.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items  3 leaseq:{q}:inbound  4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled
ARGV   1 the time in microseconds, or ''   2 person   3 skills as for reserve, or ''
REPLY  {'something'}   {'paused', reason as JSON}   {'stopped', the reason as JSON}
       {'not-eligible', when the first may become free, or '', 0|1 some are assigned to others, 0|1 they
       passed some over, then for each other set of skills in use the skills that they lack}
       {'held', when the first may become free}   {'empty', when the first scheduled one is due, or ''}
       {'no-queue'} ]]
local person, skills = ARGV[2], ARGV[3]
--- @include choose
--- @include leases

-- Why the person can't have the items that wait in these rows: 1 if some are assigned to somebody else, else
-- 0; 1 if they have the skills for some but passed them over, else 0; then for each other row the skills that
-- they lack.
local function obstacles(rows)
  local has_skill, some_assigned, some_passed, missing_lists = {}, 0, 0, {}
  for skill in string.gmatch(skills, '[^,]+') do has_skill[skill] = true end
  for row in pairs(rows) do
    local missing_skills, is_assigned = {}, string.sub(row, 1, 1) == '@'
    for skill in string.gmatch(is_assigned and '' or row, '[^+]+') do
      if not has_skill[skill] then missing_skills[#missing_skills + 1] = skill end
    end
    if is_assigned and row ~= '@' .. person then
      some_assigned = 1
    elseif missing_skills[1] then
      missing_lists[#missing_lists + 1] = table.concat(missing_skills, ',')
    else
      some_passed = 1
    end
  end
  return some_assigned, some_passed, unpack(missing_lists)
end

local refusal = queue.open(true)
if refusal then return refusal end
local held_leases, pause_reason = holdings.read(person), redis.call('HGET', keys.ledger, 'paused')
if leases.count_live(held_leases) >= queue.rules.holds + 0 then return { 'something' } end
if pause_reason then return { 'paused', pause_reason } end
if held_leases.is_stopped then return { 'stopped', string.match(redis.call('HGET', keys.stopped, person), '[^\t]*$') } end
local rows = {}
shelves.each(function(row, shelf)
  if not rows[row] and redis.call('EXISTS', shelves.key(row, shelf)) == 1 then rows[row] = true end
end)
if next(rows) then
  local entry, has_more = choose(person, skills, held_leases)
  if entry or has_more then return { 'something' } end
end
local first_expiry = redis.call('ZRANGE', keys.reserved, 0, 0, 'WITHSCORES')[2]
local due = redis.call('ZRANGE', keys.scheduled, 0, 0, 'WITHSCORES')[2]
local first_time = math.min(tonumber(first_expiry or math.huge), tonumber(due or math.huge))
if first_time <= queue.now then return { 'something' } end
local free_time = first_time < math.huge and stamp(first_time) or ''
if next(rows) then return { 'not-eligible', free_time, obstacles(rows) } end
if first_expiry then return { 'held', free_time } end
return { 'empty', due or '' }
