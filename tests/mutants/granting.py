"""Faults in how items enter, are handed out and come back by themselves."""

from tests.mutants.mutant import Mutant, mutants

INCLUDES = "lua/includes"

MUTANTS: tuple[Mutant, ...] = (
    *mutants(
        f"{INCLUDES}/take.lua",
        "reserve clear manager_moves looking guarantees",
        ("a grant has the token of the one before", "'%d', token + 1)", "'%d', token)"),
        (
            "what is granted stays on its shelf",
            "    call('ZREM', shelf, next_id)\n    call('XADD', JOURNAL, at, 'reserved', event)\n",
            "    call('XADD', JOURNAL, at, 'reserved', event)\n",
        ),
        (
            "a grant does not lower the time of the next look",
            "  if expires < soonest + 0 then soonest = string.format('%.0f', expires) end\n",
            "",
        ),
        (
            "a grant is not in the journal",
            "    call('XADD', JOURNAL, at, 'reserved', event)\n",
            "",
        ),
        (
            "the newest first",
            "next_id = call('ZRANGE', shelf, 0, 0)[1]",
            "next_id = call('ZREVRANGE', shelf, 0, 0)[1]",
        ),
        ("a pause does not stop reserve", "while not reply and open == 'open' and", "while not reply and"),
    ),
    *mutants(
        f"{INCLUDES}/take.lua",
        "broken_off",
        (
            "what is granted leaves its shelf before it is in reserved",
            "  call('ZADD', RESERVED, expires, next_id)\n",
            "  call('ZREM', shelf, next_id)\n  call('ZADD', RESERVED, expires, next_id)\n",
        ),
    ),
    *mutants(
        f"{INCLUDES}/lease_in_hand.lua",
        "reserve guarantees",
        (
            "one more than a person may hold",
            "elseif n < holds + 0 then",
            "elseif n <= holds + 0 then",
        ),
        (
            "a reserve sent again is another one",
            "if string.match(holdings, '^ ?([^\\t]*)') == request then",
            "if false then",
        ),
        (
            "what was undone is what a reserve gave",
            "given > latest and not mark_of(grant, 'u')",
            "given > latest",
        ),
        ("what was taken back is what a reserve gave", "if given > latest and not", "if not"),
    ),
    *mutants(
        f"{INCLUDES}/sweep.lua",
        "clear moments cost reserve enqueue give_back assign",
        (
            "what runs out this very microsecond stays",
            "call('ZRANGEBYSCORE', RESERVED, '-inf', time, 'LIMIT', 0, limit)",
            "call('ZRANGEBYSCORE', RESERVED, '-inf', '(' .. string.format('%.0f', time), 'LIMIT', 0, limit)",
        ),
        (
            "what is due this very microsecond stays",
            "call('ZRANGEBYSCORE', SCHEDULED, '-inf', time, 'LIMIT', 0, left)",
            "call('ZRANGEBYSCORE', SCHEDULED, '-inf', '(' .. string.format('%.0f', time), 'LIMIT', 0, left)",
        ),
        (
            "all that ran out at once",
            "call('ZRANGEBYSCORE', RESERVED, '-inf', time, 'LIMIT', 0, limit)",
            "call('ZRANGEBYSCORE', RESERVED, '-inf', time)",
        ),
        (
            "all that is due at once",
            "call('ZRANGEBYSCORE', SCHEDULED, '-inf', time, 'LIMIT', 0, left)",
            "call('ZRANGEBYSCORE', SCHEDULED, '-inf', time)",
        ),
        (
            "all that came back has one and the same time",
            "died = died + 1 else returned = returned + 1 end\n    now = now + 1\n",
            "died = died + 1 else returned = returned + 1 end\n",
        ),
        (
            "what is assigned and comes due waits behind",
            "place(item, item.a or item.o,",
            "place(item, item.a,",
        ),
        ("what is scheduled is no reason to look again", "{ RESERVED, SCHEDULED }", "{ RESERVED }"),
        (
            "what ran out stays in reserved",
            "  call('ZREM', RESERVED, member)\n  return died\n",
            "  return died\n",
        ),
        ("what came due stays in scheduled", "  call('ZREM', SCHEDULED, member)\n", ""),
        (
            "an expiry is not a failure",
            "local died = count_failure(item)\n",
            "local died = died_before(item)\n",
        ),
    ),
    *mutants(
        f"{INCLUDES}/sweep.lua",
        "broken_off",
        (
            "what ran out leaves reserved before it is anywhere else",
            "  count('expired')\n",
            "  call('ZREM', RESERVED, member)\n  count('expired')\n",
        ),
        (
            "what came due leaves scheduled before it is anywhere else",
            "    place(item, item.a or item.o, score)\n",
            "    call('ZREM', SCHEDULED, member)\n    place(item, item.a or item.o, score)\n",
        ),
    ),
    *mutants(
        f"{INCLUDES}/look_first.lua",
        "reserve cost",
        ("only the clear job takes back", "if swept then sweep(8) end", "if swept then settle_soonest() end"),
        ("a reserve takes all of it back", "if swept then sweep(8) end", "if swept then sweep(8000) end"),
    ),
    *mutants(
        f"{INCLUDES}/now.lua",
        "guarantees",
        (
            "a clock that steps back keeps leases alive",
            "clock - now > 100000",
            "clock - now < 0",
        ),
        (
            "a second step back forgets the first one",
            "skew = string.format('%.0f', skew + clock + 1 - now)",
            "skew = string.format('%.0f', clock + 1 - now)",
        ),
        ("two moves have one and the same time", "now = clock + 1", "now = clock + 0"),
    ),
    *mutants(
        f"{INCLUDES}/now.lua",
        "moments",
        ("times are compared as text whatever their length", "#at ~= #clock or ", ""),
    ),
    *mutants(
        f"{INCLUDES}/take.lua",
        "moments",
        ("a reserve compares times as text whatever their length", "#at ~= #soonest or ", ""),
    ),
    *mutants(
        f"{INCLUDES}/queue_time.lua",
        "moments",
        ("a look forgets that the clock stepped back", "now + skew, clock + 0", "now, clock + 0"),
    ),
    *mutants(
        f"{INCLUDES}/server_time.lua",
        "moments",
        (
            "the first tenth of each second is long ago",
            "  if #micro < 6 then micro = string.rep('0', 6 - #micro) .. micro end\n",
            "",
        ),
    ),
    *mutants(
        f"{INCLUDES}/place.lua",
        "reserve give_back waiting",
        ("what came back waits behind all others", "(returned and ':returned' or '')", "''"),
        ("what comes back wakes nobody", "  if waited_for then wake(1) end\n", ""),
    ),
    *mutants(
        f"{INCLUDES}/shelves.lua",
        "enqueue reserve skills answers",
        (
            "the last priority of the high band is normal",
            "priority <= low_band + 0",
            "priority < low_band + 0",
        ),
        (
            "the last priority of the normal band is low",
            "priority <= high_band + 0",
            "priority < high_band + 0",
        ),
        ("what is urgent goes last", "rank_of(other) > rank then", "rank_of(other) < rank then"),
        ("one set of skills more than the limit", "return over > 0", "return over > 1"),
        ("the first round's answers have no precedence", "(tonumber(round) or 1) * 2", "2"),
    ),
    *mutants(
        "lua/enqueue.lua",
        "enqueue lost_replies due waiting faults clear retention",
        (
            "an id that is there enters again",
            "there = digests[i], ARGV[i + 1], known[i / 3] or seen[id]",
            "there = digests[i], ARGV[i + 1], seen[id]",
        ),
        ("an id twice in one call enters twice", "known[i / 3] or seen[id]", "known[i / 3]"),
        ("an enqueue sent again is another one", "if same == request then", "if same == '' then"),
        (
            "only the latest enqueue is remembered",
            "elseif #remembered < 15 then",
            "elseif #remembered < 0 then",
        ),
        ("what is scheduled does not lower the time of the next look", "    expect(now + delay)\n", ""),
        (
            "all of one call have one and the same time",
            "    added[#added + 1] = id\n    now = now + 1\n",
            "    added[#added + 1] = id\n",
        ),
        ("due dates are in no list", "  if dues[1] then call('ZADD', DUE, unpack(dues)) end\n", ""),
        ("many items wake one", "wake(math.min(at_once, MOST_WOKEN))", "wake(1)"),
        ("full memory takes new items", "#!lua\n", "#!lua flags=allow-oom\n"),
        ("the journal grows without an end", "'MAXLEN', '~', JOURNAL_MOST, at, 'enqueued'", "at, 'enqueued'"),
    ),
    *mutants(
        "lua/enqueue.lua",
        "request_ids lost_replies",
        (
            "a request id is used for other content",
            "elseif chosen and string.sub(same, 1, #chosen) == chosen then",
            "elseif false then",
        ),
        (
            "a request that added nothing is forgotten",
            " or chosen and not before_added and not differing then",
            " then",
        ),
        ("a request that was refused is remembered", " and not differing then", " then"),
        (
            "a request sent again adds what was removed",
            "local enters = not there and not before_added",
            "local enters = not there",
        ),
        ("another payload for an id is not told", "if differing then return", "if false then return"),
    ),
    *mutants(
        f"{INCLUDES}/payloads_seen.lua",
        "dedupe",
        ("the window is a microsecond longer", "now - time < window", "now - time <= window"),
        (
            "what was removed and has its id again is a twin",
            "if record and string.sub(record, 1, 11) == string.format('%011x', time / 1000) then",
            "if record then",
        ),
    ),
    *mutants(
        "lua/enqueue.lua",
        "dedupe",
        ("digests are kept for good", ", 'PX', math.ceil(window / 1000))", ")"),
        ("twins in one call are no twins", "      twins[digest] = id\n", ""),
    ),
    *mutants(
        "lua/clear.lua",
        "moments clear retention",
        ("clear does not look at the very moment", "if now < soonest + 0 and", "if now <= soonest + 0 and"),
        ("clear says that there is no more", "soonest + 0 <= now\n", "false\n"),
    ),
    *mutants(
        "lua/clear.lua",
        "whole_life",
        ("what is left of people stays for ever", "if untidy then\n", "if false then\n"),
    ),
    *mutants(
        "lua/configure.lua",
        "cost",
        (
            "a new queue is tidied at its first clear",
            "if made then call('HSET', LEDGER, 'tidy',",
            "if false then call('HSET', LEDGER, 'tidy',",
        ),
    ),
    *mutants(
        f"{INCLUDES}/take.lua",
        "whole_life",
        ("who was away gets what they never wanted again", "    if barred then\n", "    if false then\n"),
    ),
    *mutants(
        f"{INCLUDES}/finish_after.lua",
        "whole_life",
        ("who was away can't answer", "holdings = holdings or '\\t'", "holdings = holdings"),
    ),
    *mutants(
        f"{INCLUDES}/tidy.lua",
        "whole_life",
        (
            "who holds something is forgotten",
            "elseif not since and string.find(line, '\\t', 1, true) == #line then",
            "elseif not since then",
        ),
        ("who was there yesterday is forgotten", "since and now - since >= PERSON_KEPT", "since"),
        ("a cursor stays that passes nothing over", "first and first + 0 <= score + 0", "first"),
        (
            "a cursor goes that passes something over",
            " or (first and first + 0 <= score + 0) then",
            " then",
        ),
        (
            "who is away for months keeps their cursors",
            "local away = idle and",
            "local away = idle and false and",
        ),
        ("what somebody put off stays put off when it is done", "if all or not", "if all and not"),
        (
            "a large set of what was put off is left half-way",
            "    if more then return from, done, true end\n",
            "",
        ),
        ("a step has no end", "    if left <= 0 then return from, done, true end\n", ""),
        ("an empty row stays listed", "      drop_empty_rows({})\n", ""),
    ),
    *mutants(
        f"{INCLUDES}/put_off.lua",
        "whole_life",
        (
            "what was put off is in no cursor",
            "    call('HSET', CURSORS, person, looked .. path .. '0\\n')\n",
            "",
        ),
    ),
)
