--- @include status
--- @include rules
-- Tells those who wait for an item's answer to look: it has one, or gets none. A channel's message may be lost, so they
-- also look by themselves. The message is the id, or the name of an assignment. The question is no longer open then.
--- @constant TELL_ASKER(member) redis.call('PUBLISH', keys.ended, member) redis.call('ZREM', keys.questions, member)

-- The queue's keys, by the names in leaseq/engine/keys.py. All begin like the first key that a script gets,
-- the queue's ledger, so they are in one slot of a cluster.
local PREFIX = string.sub(KEYS[1], 1, -#'ledger' - 1)
local keys = setmetatable({}, { __index = function(_, name) return PREFIX .. name end })

-- The queue's state during a call. `queue.open` reads it, the script and its includes change it, `queue.save`
-- writes it. Fields: those of status.lua; `rules`, those of rules.lua; `now`, the time of the call or of the
-- next change, in microseconds.
local queue = {}
local function newer_error(part, name) return redis.error_reply('-NEWER ' .. part .. ' ' .. name) end

-- Takes a time for the call that is later than the last one, so that the entries of a shelf are in order
-- without looking at the last entry. If the server's clock was set back (by a failover or an operator),
-- leases would last longer by the difference, so it is added to the queue's skew. Up to 100 ms is waited out.
local function take_time()
  queue.now = queue.now + queue.skew
  local is_set_back = queue.clock - queue.now > 100000
  if is_set_back then queue.skew = queue.skew + queue.clock + 1 - queue.now end
  if queue.now <= queue.clock then queue.now = queue.clock + 1 end
  if is_set_back then queue.save() end -- even if nothing else changes: time must go on
end

-- Returns the script's reply if the queue does not exist or can't be read by this version; else nil.
-- `read_only`: the script changes nothing, so it takes no time of its own. `new_status`: the status for a new
-- queue, if there is none.
function queue.open(read_only, new_status)
  local line, rules_line = unpack(redis.call('HMGET', keys.ledger, 'status', 'rules'))
  line = line or new_status
  if not line then return { 'no-queue', redis.call('EXISTS', keys.deleted) } end -- 1: it was deleted
  if not status.parse(line, queue) then return newer_error('schema', string.match(line, '^v?(%S*)')) end
  local rule_values, unknown_name = rules.parse(rules_line or '')
  if not rule_values then return newer_error('field', unknown_name) end
  queue.line, queue.rules = line, rule_values
  local time = ARGV[1] == '' and redis.call('TIME')
  queue.now = time and time[1] * 1000000 + time[2] or tonumber(ARGV[1]) or 0
  if read_only then
    queue.now = math.max(queue.now + queue.skew, queue.clock)
  else
    take_time()
  end
end

-- Whether anything except the time has changed since `queue.open`.
function queue.is_changed() return status.format(queue) ~= queue.line end

function queue.save()
  queue.clock = queue.now
  redis.call('HSET', keys.ledger, 'status', status.format(queue))
end

function queue.tick() queue.now = queue.now + 1 end

function queue.count(name) redis.call('HINCRBY', keys.ledger, 'n:' .. name, 1) end

-- Records that something is due at this time. When something is removed, `next_sweep` stays as it is: once
-- that time has passed, the sweep sets it again.
function queue.expect(time) queue.next_sweep = math.min(queue.next_sweep, time) end

-- A time as text: `..` formats a number with 14 digits only.
local function stamp(time) return string.format('%d', time) end
