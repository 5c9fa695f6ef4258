--- @include holdings
--- @include cursors
-- Chooses the next assignment that a person may have, if there are rows for skills or for one person, several
-- answers per item, or items that the person passed over.
--
-- A person has a cursor on each shelf, so that each entry is looked at once: the cursor moves past entries that they may
-- not have. An entry that they may have later is added to their sorted set `later` of that row, which is searched when
-- nothing else waits for them. Shelves grow only at their end, and an item that returns gets a new entry there, so a cursor
-- never hides an item, and a search costs the same however much a person has done.
--
-- One call passes over at most MAX_PASSED entries, and reports if there are more. It skips at most MAX_SKIPPED entries
-- in `later` whose item the person holds by another assignment; the rest are found once the person holds
-- fewer.
local MAX_PASSED, MAX_SKIPPED = 100, 400

-- The rows that the person qualifies for, with their shelves. With few skills, the row of each set of them is
-- read by name; with many, all rows are read.
local function rows_for(person, skills)
  local own_row, skill_list, has_skill, rows = '@' .. person, {}, {}, { [''] = queue.shelves }
  for skill in string.gmatch(skills, '[^,]+') do skill_list[#skill_list + 1], has_skill[skill] = skill, true end
  local row_count = redis.call('HLEN', keys.rows)
  if row_count == 0 then return rows end
  if 2 ^ #skill_list <= row_count then
    local names = { '' }
    for _, skill in ipairs(skill_list) do
      for i = 1, #names do names[#names + 1] = names[i] == '' and skill or names[i] .. '+' .. skill end
    end
    names[1] = own_row
    for i, shelf_names in ipairs(redis.call('HMGET', keys.rows, unpack(names))) do rows[names[i]] = shelf_names or nil end
    return rows
  end
  local fields = redis.call('HGETALL', keys.rows)
  for i = 1, #fields, 2 do
    local is_eligible = fields[i] == own_row
    if string.sub(fields[i], 1, 1) ~= '@' then
      is_eligible = true
      for skill in string.gmatch(fields[i], '[^+]+') do is_eligible = is_eligible and has_skill[skill] end
    end
    if is_eligible then rows[fields[i]] = fields[i + 1] end
  end
  return rows
end

-- Reads the entries of a shelf after the cursor; false if there are none.
local function read_entries(search, head)
  local from = search.scores[head.path]
  head.entries, head.at = redis.call('ZRANGEBYSCORE', head.key, from and '(' .. from or '-inf', '+inf', 'WITHSCORES',
    'LIMIT', 0, head.step), 1
  head.step = 20
  if head.entries[1] then return true end
  if redis.call('EXISTS', head.key) == 0 then search.empty_heads[#search.empty_heads + 1] = head end
  return false
end

-- Nil if the person may have it now, else 'later' or 'never'.
local function find_delay(search, member)
  local id = items.id(member)
  local sign = relations.sign_of(relations.read(id), search.person)
  if sign == '=' or sign == '-' then return 'never' end
  if sign or holdings.has_item(search.held_leases, id) then return 'later' end
end

-- The oldest entry that the person may have on the shelves of one rank.
local function find_oldest(search, heads)
  while heads[1] and search.remaining > 0 do
    local oldest = 1
    for i, head in ipairs(heads) do
      if head.entries[head.at + 1] + 0 < heads[oldest].entries[heads[oldest].at + 1] + 0 then oldest = i end
    end
    local head = heads[oldest]
    local member, score = head.entries[head.at], head.entries[head.at + 1]
    local delay = find_delay(search, member)
    if not delay then return { member = member, row = head.row, shelf = head.shelf } end
    if delay == 'later' then search.additions[#search.additions + 1] = { row = head.row, member = member } end
    search.moved_scores = search.moved_scores or {}
    search.scores[head.path], search.moved_scores[head.path] = score, score
    search.remaining, head.at = search.remaining - 1, head.at + 2
    if not head.entries[head.at] and not read_entries(search, head) then table.remove(heads, oldest) end
  end
end

-- The members of `later` for a row, from a position: those that are stored, then those that this search adds.
local function read_later(search, row, key, from)
  local members = redis.call('ZRANGE', key, from, from + MAX_PASSED - 1)
  local size = redis.call('ZCARD', key)
  for _, entry in ipairs(search.additions) do
    if entry.row == row then
      if size >= from and #members < MAX_PASSED then members[#members + 1] = entry.member end
      size = size + 1
    end
  end
  return members
end

local function find_later(search, row)
  local key, at, skip_count = cursors.later_key(row, search.person), 0, 0
  repeat
    local members = read_later(search, row, key, at)
    for _, member in ipairs(members) do
      if search.remaining == 0 or skip_count >= MAX_SKIPPED then return nil end
      local shelf = cursors.find_shelf(member, row, search.person)
      if shelf and not holdings.has_item(search.held_leases, items.id(member)) then
        return { member = member, row = row, shelf = shelf, later_key = key }
      elseif shelf then
        skip_count = skip_count + 1
      else
        search.removals[#search.removals + 1] = { key, member }
        search.remaining = search.remaining - 1
      end
    end
    at = at + #members
  until #members < MAX_PASSED
end

-- The ranks of these rows' shelves in order, and the shelves by rank.
local function group_by_rank(rows)
  local ranks, heads = {}, {}
  for row, names in pairs(rows) do
    for shelf in string.gmatch(names, '%S+') do
      local rank = shelves.rank(shelf)
      if not heads[rank] then ranks[#ranks + 1], heads[rank] = rank, {} end
      table.insert(heads[rank], { row = row, shelf = shelf, path = shelves.path(row, shelf), key = shelves.key(row, shelf),
        step = 1 })
    end
  end
  table.sort(ranks)
  return ranks, heads
end

-- Returns the assignment with its row and shelf, or nil; whether there is more to look at; and the search: the person,
-- what they hold, their cursors (`scores`), how many entries may still be passed over (`remaining`), and what `remember`
-- writes: the cursors that moved, if any, shelves that are empty, `additions` to the set `later` and `removals` from it.
local function choose(person, skills, held_leases)
  local rows = rows_for(person, skills or '')
  local search = { person = person, held_leases = held_leases, scores = cursors.read(person), remaining = MAX_PASSED,
    empty_heads = {}, additions = {}, removals = {} }
  local ranks, heads = group_by_rank(rows)
  for _, rank in ipairs(ranks) do
    local filled_heads = {}
    for _, head in ipairs(heads[rank]) do
      if read_entries(search, head) then filled_heads[#filled_heads + 1] = head end
    end
    local entry = find_oldest(search, filled_heads)
    if entry or search.remaining == 0 then return entry, search.remaining == 0, search end
  end
  for row in pairs(rows) do
    local entry = find_later(search, row)
    if entry or search.remaining == 0 then return entry, search.remaining == 0, search end
  end
  return nil, false, search
end

-- Writes the state of a search.
local function remember(search)
  if search.moved_scores then cursors.move(search.person, search.scores, search.moved_scores) end
  for _, entry in ipairs(search.additions) do
    redis.call('ZADD', cursors.later_key(entry.row, search.person), 'NX', queue.now, entry.member)
  end
  for _, entry in ipairs(search.removals) do redis.call('ZREM', entry[1], entry[2]) end
  for _, head in ipairs(search.empty_heads) do shelves.close(head.row, head.shelf) end
end
