-- About how many entries the journal keeps; more where a consumer group has not read them yet, up to the
-- second; and how many at most go in one call. Clear trims it to the first, enqueue to the second.
local JOURNAL_ENTRIES, JOURNAL_MOST, JOURNAL_STEP = 1000000, 4000000, 100000
