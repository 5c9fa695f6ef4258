-- What one item may gather, so that no call gets long: the earlier grants that are kept, the latest of
-- them, and the answers that came too late; more of those are refused. One of either always fits.
local HISTORY_BYTES, LATE_BYTES = 65536, 1048576
