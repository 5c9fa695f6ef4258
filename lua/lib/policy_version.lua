--- @include queue
--- @texts
-- The version of the policy in force, the same as `Policy.version` in leaseq/policy.py.
local function policy_version()
  local values = { queue.lease_seconds, rules.format(queue.rules) }
  for i, text in ipairs(TEXTS) do values[i + 2] = redis.call('HGET', keys.ledger, text.name) or text.default end
  return redis.sha1hex(table.concat(values, '\n'))
end
