-- Past what the journal keeps, the oldest entries go: those that every consumer group has read, and
-- whatever else is past what it may hold at most.
local size = call('XLEN', JOURNAL)
if size > JOURNAL_ENTRIES then
  local read, surplus = read_by_all(), math.min(size - JOURNAL_ENTRIES, JOURNAL_STEP)
  if read == math.huge then
    call('XTRIM', JOURNAL, 'MAXLEN', '~', JOURNAL_ENTRIES, 'LIMIT', JOURNAL_STEP)
  else
    call('XTRIM', JOURNAL, 'MINID', '~', string.format('%.0f', read + 1), 'LIMIT', surplus)
  end
  call('XTRIM', JOURNAL, 'MAXLEN', '~', JOURNAL_MOST, 'LIMIT', JOURNAL_STEP)
end
