-- The next assignment that this person may have, where that is not simply the head of the first shelf:
-- rows for skills or for one person, several answers an item, or a person who passed items over.
--
-- A person looks at each entry of a shelf once: their cursor, kept in the hash CURSORS, moves behind
-- what they were not given. What they may never have is barred for good; what they may have again goes
-- into their `later` set of that row, which is looked at when nothing new waits for them. Shelves only
-- grow at the end and what returns gets a fresh entry, so nothing is ever hidden from anybody, and the
-- cost doesn't grow with what they have done. At most LOOKS entries are passed over in a call: then
-- `more` is true. Of what is put off because they hold another assignment of the item, at most BESIDE
-- entries are skipped; those behind show when they let go of one.
--- @include bars
--- @include put_off
local LOOKS, BESIDE = 100, 400

-- The rows that the person qualifies for, with their shelves. With few skills each set of them is asked
-- for by name, else all rows in use are looked through.
local function rows_for(skills)
  local listed = {}
  for skill in string.gmatch(skills or '', '[^,]+') do listed[#listed + 1] = skill end
  local in_use = call('HLEN', ROWS)
  local rows = {}
  if in_use == 0 then return rows end
  if 2 ^ #listed <= in_use then
    local names = { '' }
    for _, skill in ipairs(listed) do
      for i = 1, #names do names[#names + 1] = names[i] == '' and skill or names[i] .. '+' .. skill end
    end
    names[1] = '@' .. person
    for i, opened in ipairs(call('HMGET', ROWS, unpack(names))) do
      if opened then rows[names[i]] = opened end
    end
    return rows
  end
  local has = {}
  for _, skill in ipairs(listed) do has[skill] = true end
  local all = call('HGETALL', ROWS)
  for i = 1, #all, 2 do
    local fits = string.byte(all[i]) ~= 64 or all[i] == '@' .. person -- 64 is @
    if fits and string.byte(all[i]) ~= 64 then
      for skill in string.gmatch(all[i], '[^+]+') do fits = fits and has[skill] end
    end
    if fits then rows[all[i]] = all[i + 1] end
  end
  return rows
end

local function read_cursors()
  local cursors = {}
  for path, score in string.gmatch(call('HGET', CURSORS, person) or '', '([^\n]*:[^\n]*)\t(%d+)\n') do
    cursors[path] = score
  end
  return cursors
end

local function has_in_hand(id)
  local hands = holdings or ''
  return string.find(hands, '\t' .. id .. '\t', 1, true) or string.find(hands, '\t' .. id .. '\a', 1, true)
end

-- nil: they may have it.
local function passes_over(member)
  local id = item_of(member)
  local sign = bar_of(call('HGET', BARS, id), person)
  if sign == '=' or sign == '-' then return 'never' end
  if sign or has_in_hand(id) then return 'later' end
end

-- Gives {member, row, shelf} or nil, whether there is more to look at, and what `remember` is to write.
local function choose(skills)
  local rows, cursors, left = rows_for(skills), read_cursors(), LOOKS
  local seen = { cursors = cursors, later = {}, empty = {} }

  local function read_on(head)
    local from = cursors[head.row .. ':' .. head.shelf]
    local found = call('ZRANGEBYSCORE', head.key, from and '(' .. from or '-inf', '+inf', 'WITHSCORES',
      'LIMIT', 0, head.step)
    if not found[1] and call('EXISTS', head.key) == 0 then seen.empty[#seen.empty + 1] = head end
    head.entries, head.at, head.step = found, 1, 20
    return found[1] ~= nil
  end

  local function pass(head, how)
    local member, score = head.entries[head.at], head.entries[head.at + 1]
    if how == 'later' then seen.later[#seen.later + 1] = { head.row, member } end
    cursors[head.row .. ':' .. head.shelf], seen.moved = score, true
    left, head.at = left - 1, head.at + 2
    return head.entries[head.at] ~= nil or read_on(head)
  end

  -- Of shelves of one rank: the oldest entry that they may have.
  local function oldest_of(heads)
    while heads[1] and left > 0 do
      local first = 1
      for i = 2, #heads do
        if heads[i].entries[heads[i].at + 1] + 0 < heads[first].entries[heads[first].at + 1] + 0 then first = i end
      end
      local head = heads[first]
      local how = passes_over(head.entries[head.at])
      if not how then return { head.entries[head.at], head.row, head.shelf } end
      if not pass(head, how) then table.remove(heads, first) end
    end
  end

  -- What they passed over for now, by `at`: first what is remembered, then what this look adds.
  local function later_at(row, key, at)
    local size = call('ZCARD', key)
    if at < size then return call('ZRANGE', key, at, at)[1] end
    for _, one in ipairs(seen.later) do
      if one[1] == row then
        if at == size then return one[2] end
        size = size + 1
      end
    end
  end

  local function from_later(row)
    local key, at = later_key(row, person), 0
    local beside = 0
    while left > 0 and beside < BESIDE do
      local member = later_at(row, key, at)
      if not member then return nil end
      local shelf = waits_for(member, row, person)
      if shelf and not has_in_hand(item_of(member)) then return { member, row, shelf, key } end
      at = at + 1
      if shelf then
        beside = beside + 1
      else
        seen.gone = { key, member, seen.gone }
        left = left - 1
      end
    end
  end

  local ranks, by_rank = {}, {}
  rows[''] = shelves
  for row, names in pairs(rows) do
    for shelf in string.gmatch(names, '%S+') do
      local rank = rank_of(shelf)
      if not by_rank[rank] then
        ranks[#ranks + 1], by_rank[rank] = rank, {}
      end
      local head = { row = row, shelf = shelf, key = shelf_key(row, shelf), step = 1 }
      by_rank[rank][#by_rank[rank] + 1] = head
    end
  end
  table.sort(ranks)
  local found
  for _, rank in ipairs(ranks) do
    local heads = {}
    for _, head in ipairs(by_rank[rank]) do
      if read_on(head) then heads[#heads + 1] = head end
    end
    found = oldest_of(heads)
    if found or left == 0 then return found, left == 0, seen end
  end
  for row in pairs(rows) do
    found = from_later(row)
    if found or left == 0 then return found, left == 0, seen end
  end
  return nil, false, seen
end
