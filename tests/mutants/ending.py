"""Faults in how a lease ends: finished, given back, failed, renewed, undone; and in what is kept of it."""

from tests.mutants.mutant import Mutant, mutants

INCLUDES = "lua/includes"

MUTANTS: tuple[Mutant, ...] = (
    *mutants(
        "lua/finish.lua",
        "finish guarantees moments finish_and_next scripts drafts reserve",
        (
            "any token finishes an item",
            "if grant and string.sub(grant, 1, #claim) == claim then",
            "if grant then",
        ),
        ("at the very moment it runs out it is in time", "late = now >= expiry_of", "late = now > expiry_of"),
        ("a finish compares times as text whatever their length", "#at ~= #soonest or ", ""),
        (
            "any form's version will do",
            "  if ARGV[6] ~= form_version then return { 'form' } end\n",
            "",
        ),
        ("what is finished stays in reserved", "  call('ZREM', source, id)\n", ""),
        ("a finish does not count", "'%d', finished + 1)", "'%d', finished)"),
        (
            "what is finished stays in the hands",
            "holdings = string.sub(holdings, 1, first)",
            "holdings = holdings",
        ),
        (
            "what is held besides falls out of the hands",
            "(last < #holdings and string.sub(holdings, last + 1) or '')",
            "''",
        ),
        ("an answer with a draft leaves it there", "string.find(marks, ' [wd]')", "string.find(marks, ' d')"),
        ("full memory takes no answers", "#!lua flags=allow-oom\n", "#!lua\n"),
    ),
    *mutants(
        "lua/finish.lua",
        "broken_off",
        (
            "a finish takes it out of reserved before it is in finished",
            "  call('ZADD', FINISHED, at, id)\n  call('ZREM', source, id)\n",
            "  call('ZREM', source, id)\n  call('ZADD', FINISHED, at, id)\n",
        ),
    ),
    *mutants(
        f"{INCLUDES}/write_finish.lua",
        "looking",
        ("a finish is not in the journal", "call('XADD', JOURNAL, at, 'finished', whom)\n", ""),
    ),
    *mutants(
        f"{INCLUDES}/finish_after.lua",
        "finish late_of_several guarantees",
        (
            "another answer under the same token counts as the same",
            "  if same ~= result then return lost(item, keep_late(item, claim, result)) end\n",
            "",
        ),
        (
            "who answered gives a second answer late",
            "ending == 'expired' and may_answer(item, person, holdings)",
            "ending == 'expired'",
        ),
        ("a lease given back may be finished", "elseif ending == 'expired' and", "elseif ending and"),
        (
            "a refused answer is dropped",
            "  return lost(item, keep_late(item, claim, result))\nend",
            "  return lost(item)\nend",
        ),
        (
            "a late finish is not marked as late",
            "late, source, grant = true, set,",
            "late, source, grant = false, set,",
        ),
    ),
    *mutants(
        f"{INCLUDES}/late.lua",
        "finish item_limits looking",
        ("anybody's late answer is kept", "  if not past_of(id, claim) then return false end\n", ""),
        (
            "a late answer sent twice is two",
            "if known == claim and same == result then",
            "if known == '' then",
        ),
        (
            "late answers grow without an end",
            "  if kept and #kept + #answer > LATE_BYTES then return false end\n",
            "",
        ),
        ("a late answer replaces the one before", "kept and kept .. '\\n\\n' .. answer or answer", "answer"),
        ("a late answer is not counted", "  count('late')\n", ""),
    ),
    *mutants(
        f"{INCLUDES}/late_for_another.lua",
        "late_of_several assign",
        (
            "a late answer takes what is another's alone",
            "state == 'inbound' and (not waiting.o or waiting.o == whom)",
            "state == 'inbound'",
        ),
    ),
    *mutants(
        f"{INCLUDES}/past.lua",
        "late_of_several books",
        ("a history without grants is an empty one", "if blocks == '' then", "if false then"),
    ),
    *mutants(
        f"{INCLUDES}/answered.lua",
        "drafts due answers adopt adopt_of_several",
        ("drafts stay after the finish", "  drop_drafts(id)\n", ""),
        ("what is finished is due still", "  call('ZREM', DUE, id)\n", ""),
        (
            "who answered gets another of it",
            "local bars = set_bar(id, person, '=')",
            "local bars = call('HGET', BARS, id) or '\\t'",
        ),
        ("the first of several answers takes all drafts", "    if missing then\n", "    if false then\n"),
    ),
    *mutants(
        f"{INCLUDES}/claimed.lua",
        "give_back guarantees",
        ("any token gives back", "if claims(grant, claim) and is_held(grant) then", "if is_held(grant) then"),
        ("an end sent again counts again", "claims(grant, claim) and is_held(grant)", "claims(grant, claim)"),
        (
            "any end counts as this one sent again",
            "over and ending_of(over) == ending and over or nil",
            "over",
        ),
    ),
    *mutants(
        "lua/abandon.lua",
        "give_back again max_abandons assign looking",
        ("what is given back stays in reserved", "call('ZREM', RESERVED, member)\n", ""),
        ("one more may give it back", "if people >= (tonumber", "if people > (tonumber"),
        ("never means later", "again == 'later' and '~' or '-'", "'~'"),
        (
            "what is put off is not remembered",
            "  if again == 'later' then put_off(item, person) end\n",
            "",
        ),
        ("what is given back stays assigned", "item.o = nil\n", ""),
        ("who gave back is not looked at with care", "\nmark(person)\ncount", "\ncount"),
        ("giving back is not counted", "count('abandoned')\n", ""),
    ),
    *mutants(
        "lua/abandon.lua",
        "broken_off",
        (
            "what is given back leaves reserved before it is anywhere else",
            "count('abandoned')\n",
            "call('ZREM', RESERVED, member)\ncount('abandoned')\n",
        ),
    ),
    *mutants(
        "lua/fail.lua",
        "broken_off",
        (
            "what failed leaves reserved before it is anywhere else",
            "count('failed')\n",
            "call('ZREM', RESERVED, member)\ncount('failed')\n",
        ),
    ),
    *mutants(
        "lua/fail.lua",
        "give_back clear looking",
        (
            "the wait has no end",
            "math.min(retry_seconds * 2 ^ math.min(failures - 1, 40), retry_max_seconds + 0)",
            "retry_seconds * 2 ^ math.min(failures - 1, 40)",
        ),
        ("what fails together comes back together", " * (1 - math.random() / 4))", ")"),
        ("the wait is doubled the first time", "math.min(failures - 1, 40)", "math.min(failures, 40)"),
        ("a wait does not lower the time of the next look", "  expect(due + 0)\n", ""),
        ("what failed stays in reserved", "call('ZREM', RESERVED, member)\n", ""),
        ("a failure is not in the journal", "note('failed', id .. '\\t' .. whom .. '\\t' .. ARGV[5])\n", ""),
        ("the wait of a fail sent again is over", "{ 'retry', due }\nend\nif", "{ 'retry', at }\nend\nif"),
    ),
    *mutants(
        f"{INCLUDES}/die.lua",
        "give_back enqueue answers due",
        (
            "one attempt more than allowed",
            "first.f >= (first.m or max_attempts) + 0",
            "first.f > (first.m or max_attempts) + 0",
        ),
        ("the journal has no death of what dies along", "      note('died', id .. '\\t\\t')\n", ""),
        ("an item's own attempts do not count", "(first.m or max_attempts) + 0", "max_attempts + 0"),
        (
            "what of it is scheduled does not die along",
            "if other and (state == 'inbound' or state == 'scheduled') then",
            "if other and state == 'inbound' then",
        ),
        ("what is dead is due still", "  call('ZREM', DUE, item_of(item.id))\n", ""),
        ("what is held of a dead item lives on", "    first.x = ''\n", ""),
        ("deaths are not counted", "  count('died')\n", ""),
    ),
    *mutants(
        "lua/renew.lua",
        "renew drafts due",
        (
            "any token renews",
            "if not claims(grant, ARGV[3] .. '\\t' .. person .. '\\t') then return lost(id) end\n",
            "",
        ),
        ("one renewal more than allowed", "if allowed and done >= allowed", "if allowed and done > allowed"),
        (
            "a renewal sent again is another one",
            "if held and mark_of(grant, 'q') == request then",
            "if held and request == '' then",
        ),
        (
            "a renewal shortens",
            "math.max(now + lease_seconds * 1000000, expiry_of(grant))",
            "now + lease_seconds * 1000000",
        ),
        ("a renewal does not lower the time of the next look", "expect(expires)\n", ""),
        ("what is taken back stays in inbound", "if not held then call('ZREM', set, member) end\n", ""),
        (
            "one more than they may hold is taken back",
            "alive_of(holdings) >= holds + 0 then",
            "alive_of(holdings) > holds + 0 then",
        ),
        (
            "what was given back is taken back",
            "ending_of(grant) == 'expired' and state",
            "ending_of(grant) and state",
        ),
    ),
    *mutants(
        "lua/save_draft.lua",
        "drafts guarantees",
        (
            "any token saves a draft",
            "if not claims(grant, claim) or (ended",
            "if not grant or (ended",
        ),
        ("a draft is taken after the end", " or (ended and ended ~= 'expired') then", " then"),
        ("a draft after the lease ran out is not shown", "    item.w = ''\n", ""),
        (
            "somebody's draft takes the others' names",
            "  if other ~= person then others[#others + 1] = other end\n",
            "",
        ),
    ),
    *mutants(
        f"{INCLUDES}/end_grant.lua",
        "give_back drafts reserve clear",
        ("what is over stays in the hands", "  unhold(person, item.id)\n", ""),
        ("an attempt is not counted", "  item.a = attempt\n", ""),
        ("a draft goes with its lease", "  if has_draft(grant) then item.w = '' end\n", ""),
    ),
    *mutants(
        "lua/undo_finish.lua",
        "undo_finish moments",
        (
            "a microsecond too late is too late already",
            "if now > finished_at + ARGV[6]",
            "if now >= finished_at + ARGV[6]",
        ),
        (
            "a finish can be undone for ever",
            "now > finished_at + ARGV[6]",
            "now > finished_at + ARGV[6] * 1000",
        ),
        (
            "anybody undoes a finish",
            "if claims(latest, claim) and ending_of(latest) == 'finished' then",
            "if latest and ending_of(latest) == 'finished' then",
        ),
        ("who undid it is barred for ever", "if sign == '=' then", "if sign == '' then"),
        ("what is undone stays in finished", "call('ZREM', FINISHED, member)\n", ""),
        ("who else has a draft is forgotten", "id, people .. person)", "id, person)"),
        ("an undone finish keeps its token", "token = string.format('%.0f', token + 1)\n", ""),
    ),
    *mutants(
        f"{INCLUDES}/taken_before.lua",
        "item_limits reserve",
        ("history grows without an end", "while #past > HISTORY_BYTES do", "while #past < 0 do"),
        ("each attempt is the first", "return (item.a or 0) + 1, marks", "return 1, marks"),
    ),
    *mutants(
        f"{INCLUDES}/draft.lua",
        "drafts",
        (
            "drafts are shared without asking",
            "if found[2] and share_drafts == 'true' then",
            "if found[2] then",
        ),
    ),
    *mutants(
        "lua/confirm.lua",
        "unconfirmed",
        (
            "what is waited for was not written",
            "if durable then redis.call('HSET', KEYS[1], 'durable', durable) end\n",
            "",
        ),
    ),
)
