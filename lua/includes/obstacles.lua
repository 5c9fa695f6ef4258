-- Why what waits in these rows is not for a person: 1 where some of it is assigned to somebody else, or 0; 1
-- where they qualify for some, and passed it over, or 0; and of each other row the skills that they lack.
local function obstacles(rows)
  local has, assigned, passed, lacking = {}, 0, 0, {}
  for skill in string.gmatch(skills, '[^,]+') do has[skill] = true end
  for row in pairs(rows) do
    local missing = {}
    if string.byte(row) == 64 and row ~= '@' .. person then -- 64 is @
      assigned = 1
    else
      for skill in string.gmatch(string.byte(row) == 64 and '' or row, '[^+]+') do
        if not has[skill] then missing[#missing + 1] = skill end
      end
      if missing[1] then lacking[#lacking + 1] = table.concat(missing, ',') else passed = 1 end
    end
  end
  return { assigned, passed, unpack(lacking) }
end
