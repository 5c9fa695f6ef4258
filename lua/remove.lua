#!lua flags=allow-oom
--[[ Deletes all that is stored about an item, whatever its state: record, answer, drafts, history.

KEYS   1 leaseq:{q}:ledger    2 leaseq:{q}:items   3 leaseq:{q}:inbound   4 leaseq:{q}:reserved
       5 leaseq:{q}:scheduled 6 leaseq:{q}:dead    7 leaseq:{q}:finished  8 leaseq:{q}:journal
       9 leaseq:{q}:history  10 leaseq:{q}:late   11 leaseq:{q}:drafts
ARGV   1 the time in microseconds, or ''   2 id   3 by whom, or ''
REPLY  {'ok'}   {'no-item'}   {'no-queue'} ]]
local id, by = ARGV[2], ARGV[3]
--- @include forget
local refusal = queue.open()
if refusal then return refusal end
if not items.read(id) then return { 'no-item' } end
local tokens = forget(id)
for i = 2, #tokens do
  queue.count('released')
  journal.note('released', id, tokens[i], by)
end
journal.note('removed', id, tokens[1] or '', by)
commit()
return { 'ok' }
