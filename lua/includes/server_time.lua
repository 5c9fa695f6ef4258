-- The server's time in microseconds: `at` as text, `now` as a number. Tests pass one in.
local at = ARGV[1]
if at == '' then
  local time = call('TIME')
  local micro = time[2]
  if #micro < 6 then micro = string.rep('0', 6 - #micro) .. micro end
  at = time[1] .. micro
end
local now = at + 0
