--- @include holdings
--- @include cursors
-- Chooses the next assignment that a person may have, where there are rows for skills or for one person, several answers
-- per item, or items that the person passed over.
--
-- A person has a cursor on each shelf, so that each entry is looked at once: the cursor moves past entries that they may
-- not have. An entry that they may have later is added to their sorted set `later` of that row, which is searched when
-- nothing else waits for them. Shelves grow only at their end, and an item that returns gets a new entry there, so a cursor
-- never hides an item, and a search costs the same however much a person has done.
--
-- One call passes over at most LOOKS entries, and says so where there are more. Of the entries in `later` whose item the
-- person holds by another assignment it skips at most BESIDE; the others are found once the person holds fewer.
local LOOKS, BESIDE = 100, 400

-- The rows that the person qualifies for, with their shelves. With few skills the row of each set of them is read by name;
-- with many, all rows are read.
local function rows_for(person, skills)
  local own, listed, has, rows = '@' .. person, {}, {}, { [''] = queue.shelves }
  for skill in string.gmatch(skills, '[^,]+') do listed[#listed + 1], has[skill] = skill, true end
  local in_use = redis.call('HLEN', keys.rows)
  if in_use == 0 then return rows end
  -- equivalent mutant: compare: both ways find the same rows, and with equal numbers read as many fields
  if 2 ^ #listed <= in_use then
    local names = { '' }
    for _, skill in ipairs(listed) do
      for i = 1, #names do names[#names + 1] = names[i] == '' and skill or names[i] .. '+' .. skill end
    end
    names[1] = own
    for i, open in ipairs(redis.call('HMGET', keys.rows, unpack(names))) do rows[names[i]] = open or nil end
    return rows
  end
  local all = redis.call('HGETALL', keys.rows)
  for i = 1, #all, 2 do
    local fits = all[i] == own
    if string.sub(all[i], 1, 1) ~= '@' then
      fits = true
      for skill in string.gmatch(all[i], '[^+]+') do fits = fits and has[skill] end
    end
    if fits then rows[all[i]] = all[i + 1] end
  end
  return rows
end

-- The state of a search: the person, what they hold, their cursors (a score by path), how many entries may still be passed
-- over (`left`), and what `remember` writes: the cursors that moved, if any, shelves that are empty, entries for `later` and
-- entries that leave it (`gone`).
local function begin_search(person, held)
  local search = { person = person, held = held, cursors = {}, left = LOOKS, empty = {}, later = {}, gone = {} }
  for _, cursor in ipairs(cursors.read(person)) do search.cursors[cursor[1]] = cursor[2] end
  return search
end

-- Reads the entries of a shelf behind the cursor; false where there are none.
local function read_on(search, head)
  local from = search.cursors[head.path]
  head.entries, head.at = redis.call('ZRANGEBYSCORE', head.key, from and '(' .. from or '-inf', '+inf', 'WITHSCORES',
    'LIMIT', 0, head.step), 1
  head.step = 20
  if head.entries[1] then return true end
  if redis.call('EXISTS', head.key) == 0 then search.empty[#search.empty + 1] = head end
  return false
end

-- Nil where the person may have it now, else 'later' or 'never'.
local function passes_over(search, member)
  local id = items.id(member)
  local sign = bars.sign_of(bars.read(id), search.person)
  if sign == '=' or sign == '-' then return 'never' end
  if sign or holdings.has_item(search.held, id) then return 'later' end
end

-- Of shelves of one rank the oldest entry that the person may have.
local function oldest_of(search, heads)
  while heads[1] and search.left > 0 do
    local first = 1
    for i, head in ipairs(heads) do
      if head.entries[head.at + 1] + 0 < heads[first].entries[heads[first].at + 1] + 0 then first = i end
    end
    local head = heads[first]
    local member, score = head.entries[head.at], head.entries[head.at + 1]
    local how_long = passes_over(search, member)
    if not how_long then return { member = member, row = head.row, shelf = head.shelf } end
    if how_long == 'later' then search.later[#search.later + 1] = { row = head.row, member = member } end
    search.moved = search.moved or {}
    search.cursors[head.path], search.moved[head.path] = score, score
    search.left, head.at = search.left - 1, head.at + 2
    if not head.entries[head.at] and not read_on(search, head) then table.remove(heads, first) end
  end
end

-- The members of `later` for a row, from a position: those that are stored, then those that this search adds.
local function later_of(search, row, key, from)
  local members = redis.call('ZRANGE', key, from, from + LOOKS - 1)
  local size = redis.call('ZCARD', key)
  for _, one in ipairs(search.later) do
    if one.row == row then
      if size >= from and #members < LOOKS then members[#members + 1] = one.member end
      size = size + 1
    end
  end
  return members
end

local function from_later(search, row)
  local key, at, beside = cursors.later_key(row, search.person), 0, 0
  repeat
    local members = later_of(search, row, key, at)
    for _, member in ipairs(members) do
      if search.left == 0 or beside >= BESIDE then return nil end
      local shelf = cursors.waits_on(member, row, search.person)
      if shelf and not holdings.has_item(search.held, items.id(member)) then
        return { member = member, row = row, shelf = shelf, later_key = key }
      elseif shelf then
        beside = beside + 1
      else
        search.gone[#search.gone + 1] = { key, member }
        search.left = search.left - 1
      end
    end
    at = at + #members
  until #members < LOOKS
end

-- The shelves of these rows by rank, the first rank first.
local function by_rank(rows)
  local ranks, heads = {}, {}
  for row, names in pairs(rows) do
    for shelf in string.gmatch(names, '%S+') do
      local rank = shelves.rank(shelf)
      if not heads[rank] then ranks[#ranks + 1], heads[rank] = rank, {} end
      table.insert(heads[rank], { row = row, shelf = shelf, path = row .. ':' .. shelf, key = shelves.key(row, shelf),
        step = 1 })
    end
  end
  table.sort(ranks)
  for i, rank in ipairs(ranks) do ranks[i] = heads[rank] end
  return ranks
end

-- Gives the assignment with its row and shelf, or nil; whether there is more to look at; and the search.
local function choose(person, skills, held)
  local rows, search = rows_for(person, skills or ''), begin_search(person, held)
  for _, heads in ipairs(by_rank(rows)) do
    local open = {}
    for _, head in ipairs(heads) do
      if read_on(search, head) then open[#open + 1] = head end
    end
    local found = oldest_of(search, open)
    if found or search.left == 0 then return found, search.left == 0, search end
  end
  for row in pairs(rows) do
    local found = from_later(search, row)
    if found or search.left == 0 then return found, search.left == 0, search end
  end
  return nil, false, search
end

-- Writes the state of a search.
local function remember(search)
  if search.moved then
    local list = {}
    for path, score in pairs(search.cursors) do list[#list + 1] = { path, score } end
    cursors.write(search.person, list, search.moved)
  end
  for _, one in ipairs(search.later) do
    redis.call('ZADD', cursors.later_key(one.row, search.person), 'NX', queue.now, one.member)
  end
  for _, one in ipairs(search.gone) do redis.call('ZREM', one[1], one[2]) end
  for _, head in ipairs(search.empty) do shelves.close(head.row, head.shelf) end
end
