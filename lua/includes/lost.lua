-- The answer to a caller whose token is not, or no longer, good: what is true now.
local function lost(id, kept)
  local known = describe(id)
  if not known then return { 'no-item' } end
  return { 'lost', kept and 1 or 0, known }
end
