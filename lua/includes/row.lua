-- row: <soonest> <shelf> <shelf> …. No lease runs out and nothing comes due before `soonest`; the
-- shelves are those that may hold something, in order of precedence.
local soonest, shelves = string.match(row, '^(%d+) ?(.*)$')
