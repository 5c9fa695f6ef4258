#!lua flags=allow-oom
--[[ Records the decision on an item. One that is there already, equal but for its time, stays.

KEYS   as adopt.lua
ARGV   1 the time in microseconds, or ''   2 id   3 how, agreement, by and tokens as in lib/decisions.lua, separated by
       tabs   4 the result as JSON
REPLY  {'ok'}   {'other-answers'}: the answers that count are not those with these tokens   {'no-item'}   {'no-queue'} ]]
local id, terms, result = ARGV[2], ARGV[3], ARGV[4]
--- @include decisions
--- @include journal
local refusal = queue.open()
if refusal then return refusal end
local first = items.read(id)
if not first then return { 'no-item' } end
local how, by, tokens = string.match(terms, '^(.*)\t.*\t(.*)\t(.*)$')
if tokens ~= decisions.tokens(id) then return { 'other-answers' } end
local decision = '\t' .. terms .. '\n' .. result
if string.match(decisions.read(id) or '', '\t.*$') == decision then return { 'ok' } end
redis.call('HSET', keys.decisions, id, stamp(queue.now) .. decision)
journal.note('decided', id, '', by, cjson.encode(how))
if first.asked then TELL_ASKER(id) end
commit()
return { 'ok' }
