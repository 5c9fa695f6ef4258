-- About how many entries the journal keeps; enqueue and clear trim it.
local JOURNAL_ENTRIES = 1000000
