-- rules, what fewer moves need: <holds> <max_attempts> <retry_seconds> <retry_max_seconds> <band> <band>
-- <renewals> <share_drafts> <answers> <max_abandons> <dedupe_seconds> <keep_finished_seconds>, with - for
-- none.
local holds, max_attempts, retry_seconds, retry_max_seconds, low_band, high_band, renewals, share_drafts,
  answers, max_abandons, dedupe_seconds, keep_finished_seconds =
  string.match(call('HGET', LEDGER, 'rules'), '^' .. string.rep('(%S+) ', 11) .. '(%S+)$')
