-- A grant: `token \t person \t granted lease_seconds attempt`, then marks, each a space, a letter and its value:
-- x when it runs out, n how often it was renewed and q the request that did it last, once it was renewed; u the
-- request of the undo that gave it; a a manager adopted its late answer (then q is the request that did); w there
-- is a draft; d the item has a due date; m it came from another assignment of the item, whose attempts it is
-- counted among. No value has a space in it. Once over, a newline and how: expired, abandoned, failed, released,
-- undone or finished, when, and what belongs to it.
local MARKS = { 'x', 'n', 'u', 'w', 'd', 'm', 'a', 'q' }

local function is_held(grant) return grant and not string.find(grant, '\n', 1, true) end

local function claims(grant, claim) return grant and string.sub(grant, 1, #claim) == claim end

local function ending_of(grant) return string.match(grant, '\n(%l+)') end

-- The value of a mark ('' for one that has none), or nil where it is not there.
local function mark_of(grant, letter)
  return string.match(grant, '^%d+\t[^\t]*\t[^\n]- ' .. letter .. '(%S*)')
end

-- A grant's line with these marks beside its own, or in their place; of one that is over without its ending.
local function with_marks(grant, new)
  local line = string.match(grant, '^%d+\t[^\t]*\t%d+ %S+ %d+')
  for _, letter in ipairs(MARKS) do
    local value = new[letter] or mark_of(grant, letter)
    if value then line = line .. ' ' .. letter .. value end
  end
  return line
end

local function expiry_of(grant)
  local expires = mark_of(grant, 'x')
  if expires then return expires + 0 end
  local granted, seconds = string.match(grant, '^%d+\t[^\t]*\t(%d+) (%S+)')
  return granted + seconds * 1000000
end

local function has_draft(grant) return mark_of(grant, 'w') ~= nil end
