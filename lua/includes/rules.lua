-- rules: <open|paused> <lease_seconds> <holds> <max_attempts> <retry_seconds> <retry_max_seconds>
-- <band> <band> <renewals> <share_drafts> <form version>, with - for none.
local open, lease_seconds, holds, max_attempts, retry_seconds, retry_max_seconds, low_band, high_band, renewals,
  share_drafts, form_version = string.match(rules, '^' .. string.rep('(%S+) ', 10) .. '(%S+)$')
