-- rules, what fewer moves need: <holds> <max_attempts> <retry_seconds> <retry_max_seconds> <band> <band>
-- <renewals> <share_drafts>, with - for none.
local holds, max_attempts, retry_seconds, retry_max_seconds, low_band, high_band, renewals, share_drafts =
  string.match(call('HGET', LEDGER, 'rules'), '^' .. string.rep('(%S+) ', 7) .. '(%S+)$')
