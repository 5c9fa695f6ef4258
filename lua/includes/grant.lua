-- A grant: `token \t person \t granted lease_seconds attempt`, then marks (x<expires> n<renewals>
-- q<request> once renewed, w where there is a draft, d where the item has a due date, m where it came from
-- another assignment of the item, whose attempts it is counted among). Once over, a newline and how:
-- expired, abandoned, failed, released or finished, when, and what belongs to it.
local function is_held(grant) return grant and not string.find(grant, '\n', 1, true) end

local function claims(grant, claim) return grant and string.sub(grant, 1, #claim) == claim end

local function ending_of(grant) return string.match(grant, '\n(%l+)') end

local function expiry_of(grant)
  local line = string.match(grant, '^[^\n]*')
  local expires = string.match(line, '^%d+\t[^\t]*\t.* x(%d+)')
  if expires then return expires + 0 end
  local granted, seconds = string.match(line, '^%d+\t[^\t]*\t(%d+) (%S+)')
  return granted + seconds * 1000000
end

local function has_draft(grant) return string.match(grant, '^%d+\t[^\t\n]*\t[^\n]* w') ~= nil end
