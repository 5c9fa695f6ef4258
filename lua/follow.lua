#!lua flags=allow-oom
--[[ The position of a consumer group in the journal. The group is created if there is none, at the journal's
beginning, and only moves forward. Entries that a group has not read are not trimmed, and the items in them
are not forgotten.

KEYS   1 leaseq:{q}:ledger  2 leaseq:{q}:journal
ARGV   1 the time (not used)   2 the group's name   3 the entry of the last event that was read, 4 that
       event's number in its entry, from 0; '' each to move nothing   5 how many entries to keep, at least, of
       those that every group has read; '' to trim nothing
REPLY  {'position', the time of the last entry that was read completely}   {'no-queue'} ]]
local group, entry, number, keep_count = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
--- @include journal
local TRIM_STEP = 20000 -- entries in one call
local refusal = queue.open(true)
if refusal then return refusal end

local function count_events(fields)
  local count = 0
  for i = 1, #fields, 2 do
    local _, tab_count = string.gsub(fields[i + 1], '\t', '')
    count = count + (fields[i] == 'enqueued' and tab_count + 1 or 1)
  end
  return count
end

-- The time of the entry if all of it was read, else the microsecond before. No two entries have the same
-- time.
local function entry_position()
  local stored_entry = redis.call('XRANGE', keys.journal, entry, entry)[1]
  return stored_entry and count_events(stored_entry[2]) > number + 1 and entry - 1 or entry + 0
end

local position = journal.group_positions()[group]
if not position then
  redis.call('XGROUP', 'CREATE', keys.journal, group, '0', 'MKSTREAM')
  position = 0
end
local new_position = entry ~= '' and entry_position() or position
if new_position > position then
  redis.call('XGROUP', 'SETID', keys.journal, group, stamp(new_position) .. '-0')
  position = new_position
end
if keep_count ~= '' then journal.trim(keep_count, TRIM_STEP) end
return { 'position', stamp(position) }
