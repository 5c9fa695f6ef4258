"""Faults in what managers and the clear job do, in who waits, and in what is shown."""

from tests.mutants.mutant import Mutant, mutants

INCLUDES = "lua/includes"

MUTANTS: tuple[Mutant, ...] = (
    *mutants(
        "lua/release.lua",
        "manager_moves answers",
        (
            "everybody's lease is taken, whoever is named",
            "(whose == '' or string.match(grant, '^%d+\\t([^\\t]*)') == whose)",
            "whose",
        ),
    ),
    *mutants(
        f"{INCLUDES}/let_go.lua",
        "manager_moves answers",
        ("a released item of a dead one lives on", "  if died then\n", "  if false then\n"),
        ("the journal has no death of what is released", "    note('died', id .. '\\t\\t')\n", ""),
        ("what is released stays in reserved", "  call('ZREM', RESERVED, member)\n", ""),
    ),
    *mutants(
        f"{INCLUDES}/let_go.lua",
        "broken_off",
        (
            "what is released leaves reserved before it is anywhere else",
            "  count('released')\n",
            "  call('ZREM', RESERVED, member)\n  count('released')\n",
        ),
    ),
    *mutants(
        "lua/revive.lua",
        "broken_off",
        (
            "what is revived is nowhere for a moment",
            "  place(read_item(member), true, now)\n  call('ZREM', DEAD, member)\n",
            "  call('ZREM', DEAD, member)\n  place(read_item(member), true, now)\n",
        ),
    ),
    *mutants(
        "lua/revive.lua",
        "manager_moves max_abandons again due answers",
        ("a revived item's failures count on", "first.f, first.x = nil, nil", "first.x = nil"),
        ("who gave it back is barred from a revived item", "  lift_bars(id)\n", ""),
        ("what is revived is dead, too", "  call('ZREM', DEAD, member)\n", ""),
        (
            "whom a revived item is no longer barred to does not see it",
            "if revived[1] then\n  for _, one",
            "if false then\n  for _, one",
        ),
        ("a revived item is not due", "  if first.d then call('ZADD', DUE, first.d, id) end\n", ""),
    ),
    *mutants(
        "lua/adopt.lua",
        "adopt adopt_of_several late_of_several lost_replies books",
        (
            "an adoption sent again is another one",
            "if grant and mark_of(grant, 'a') and mark_of(grant, 'q') == request then",
            "if grant and request == '' then",
        ),
        ("the holder keeps what is answered", "elseif is_held(grant) then", "elseif false then"),
        (
            "one person's two answers",
            "if counts and string.match(theirs, '\\t([^\\t]*)\\t') == person then",
            "if counts and person == '' then",
        ),
        (
            "an answer that is replaced is gone",
            "if replaced and not moves then",
            "if replaced and moves then",
        ),
        (
            "an answer taken again counts its attempt again",
            "with_marks(past, { m = moves",
            "with_marks((string.gsub(past, ' m', '')), { m = moves",
        ),
        (
            "an adopted answer is given when it is adopted",
            "'\\nfinished ' .. given .. ' 1",
            "'\\nfinished ' .. at .. ' 1",
        ),
        (
            "an adopted answer is a late one still",
            "keep_blocks(LATE, id, table.concat(answers_left, '\\n\\n'))\n",
            "",
        ),
        (
            "an adoption is not in the journal",
            "note('adopted', id .. '\\t' .. wanted .. '\\t' .. ARGV[4])\n",
            "",
        ),
        (
            "the journal has nothing of the lease that an adoption ends",
            "  note('released', id .. '\\t' .. token .. '\\t' .. ARGV[4])\n",
            "",
        ),
        (
            "an adopted answer counts and the journal has no finish",
            "  note('finished', id .. '\\t' .. wanted .. '\\t' .. person)\n",
            "",
        ),
    ),
    *mutants(
        f"{INCLUDES}/pick.lua",
        "adopt adopt_of_several",
        (
            "the first of two under one token is meant",
            "picked = #blocks end",
            "picked = picked or #blocks end",
        ),
    ),
    *mutants(
        f"{INCLUDES}/free_assignment.lua",
        "adopt adopt_of_several",
        ("another's assignment is as good as any", "and 3 or 1", "and 1 or 1"),
    ),
    *mutants(
        f"{INCLUDES}/forget.lua",
        "manager_moves retention again answers whole_life",
        ("a removed item's history stays", "    call('HDEL', HISTORY, member)\n", ""),
        (
            "the history of its other assignments stays",
            "call('HDEL', HISTORY, member)",
            "call('HDEL', HISTORY, id)",
        ),
        ("a removed item stays in the hands", "      unhold(person, member)\n", ""),
        ("a removed item's late answers stay", "  call('HDEL', LATE, id)\n", ""),
        (
            "a removed item is put off still",
            "call('ZREM', later_key(row, name), unpack(members))",
            "row = name",
        ),
        ("a removed item that is assigned is put off still", "  first.o = nil", "  -- first.o"),
        ("a removed item's bars stay", "  call('HDEL', BARS, id)\n", ""),
        ("a removed item's drafts stay", "  drop_drafts(id)\n", ""),
    ),
    *mutants(
        f"{INCLUDES}/retain.lua",
        "retention",
        (
            "what is just old enough stays",
            "if not score or score + 0 > last then",
            "if not score or score + 0 >= last then",
        ),
        ("a late answer that nobody read goes", "  held_back = unread(id)\n", "  held_back = false\n"),
        ("more is forgotten than allowed", "    if forgotten == limit then break end\n", ""),
        ("what is forgotten is looked at again", "  from = entries[i + 1]\n", ""),
        (
            "what is finished goes when the first answer is old",
            "if all_go(members) then",
            "if all_go({ entries[i] }) then",
        ),
    ),
    *mutants(
        f"{INCLUDES}/read_by_all.lua",
        "retention",
        (
            "what was delivered was read",
            "local first_pending = known.pending > 0",
            "local first_pending = known.pending < 0",
        ),
        ("the fastest reader counts", "read = math.min(read, last)", "read = last"),
    ),
    *mutants(
        f"{INCLUDES}/trim_journal.lua",
        "retention",
        (
            "the journal is trimmed past what was read",
            "  if read == math.huge then\n",
            "  if read then\n",
        ),
        (
            "a reader that is gone keeps the journal growing",
            "  call('XTRIM', JOURNAL, 'MAXLEN', '~', JOURNAL_MOST, 'LIMIT', JOURNAL_STEP)\n",
            "",
        ),
    ),
    *mutants(
        "lua/configure.lua",
        "policy answers",
        (
            "what is expected is not compared",
            "~= expected then return { 'changed' } end",
            "== '' then return { 'changed' } end",
        ),
        (
            "a first enqueue overwrites a policy",
            "if not made and create then return { 'ok', 0 } end\n",
            "",
        ),
        (
            "several answers are looked for like one",
            "if place == ANSWERS and value ~= '1' then mix = true end",
            "",
        ),
        ("no change is a change", "changed = changed or words[place] ~= value\n", "changed = true\n"),
    ),
    *mutants(
        "lua/pause.lua",
        "manager_moves",
        ("pausing twice counts twice", "if paused == ARGV[3] then return { 'ok' } end\n", ""),
    ),
    *mutants(
        "lua/resume.lua",
        "manager_moves waiting looking",
        ("a resume wakes nobody", "  wake(math.min(waiting, MOST_WOKEN))\n", ""),
        (
            "a resume is not in the journal",
            "call('XADD', JOURNAL, at, 'resumed', '\\t\\t' .. ARGV[2] .. '\\t')\n",
            "",
        ),
    ),
    *mutants(
        f"{INCLUDES}/line.lua",
        "waiting killed_waiters",
        (
            "who died in line is woken",
            "return (string.match(call('HGET', LINE_UNTIL, waiter) or '', '^%d+') or 0) + 0 >= now",
            "return waiter",
        ),
        (
            "who was killed after being woken is never forgotten",
            "  call('EXPIRE', LINE_UNTIL, FORGOTTEN) --",
            "  --",
        ),
        ("a line of the killed is never forgotten", "  call('EXPIRE', LINE, FORGOTTEN)\n", ""),
        (
            "who stands in line longer than five seconds is no longer woken first",
            "if not until_ or late ~= '' or until_ - now < BELIEVED / 2 then",
            "if not until_ or late ~= '' then",
        ),
        ("who was killed stands in front of who is there", "  first_in_line()\n  return", "  return"),
        ("one wake-up looks at a few of the killed", "until #woken >= count or not next_[1]", "until true"),
    ),
    *mutants(
        f"{INCLUDES}/waiting.lua",
        "killed_waiters",
        ("who was killed is counted", "    if there[waiter] then count", "    if waiter then count"),
    ),
    *mutants(
        f"{INCLUDES}/wait.lua",
        "waiting",
        (
            "what is not for who was woken is for nobody",
            "then wake(1, waiter) end\n  return",
            "then leave_line('') end\n  return",
        ),
        ("who got something stays in line", "  leave_line(waiter)\n", ""),
        (
            "hands that are full by now swallow a wake-up",
            "if woken == '1' and not record and",
            "if record == '' and",
        ),
    ),
    *mutants(
        f"{INCLUDES}/wait_turn.lua",
        "waiting",
        (
            "who looks first overtakes who began first",
            " now - last < ON_THE_WAY or (pass_on() and not first) or (now - last < SETTLED and not first)",
            " pass_on() and not first",
        ),
    ),
    *mutants(
        f"{INCLUDES}/wait_turn.lua",
        "killed_waiters",
        (
            "who was killed takes a wake-up along",
            "  if late > 0 then wake(math.min(2 * late, MOST_WOKEN)) end\n",
            "",
        ),
        (
            "who looks first takes the turn of who does not come",
            "(pass_on() and not first)",
            "(pass_on() and false)",
        ),
        (
            "who is slow to come loses their place",
            "        call('HSET', LINE_UNTIL, name, terms .. ' late')\n",
            "        call('HDEL', LINE_UNTIL, name)\n",
        ),
    ),
    *mutants(
        "lua/leave_line.lua",
        "waiting ended_waits",
        ("who leaves takes their wake-up along", "  wake(1)\n", ""),
        (
            "what came to an ended wait stays with nobody",
            "  let_go(member, grant, person, died_before(read_item(member)))\n  tell()\n",
            "",
        ),
        (
            "an ended wait gives back what another call got",
            "if string.match(holdings or '', '^ ?([^\\t]*)') == request then",
            "if holdings then",
        ),
        ("an ended wait gives back an older lease", "ARGV[5] + 0\n", "-1\n"),
        ("an ended wait gives back what was undone", " and not mark_of(one, 'u')", ""),
    ),
    *mutants(
        "lua/items.lua",
        "pages find item_limits",
        ("a page has one too many", "#found == limit", "#found > limit"),
        ("a page of large items has no end", " or room <= 0", ""),
        ("a tie is shown twice", "if tie < last then", "if tie < '' then"),
        ("up to a time takes it in", "time + 0 >= most + 0", "time + 0 > most + 0"),
    ),
    *mutants(
        f"{INCLUDES}/wanted.lua",
        "find",
        ("anybody's lease is theirs", "if person ~= '' and whose ~= person then return false end\n", ""),
        ("one who gave it back twice counts twice", " and not people[whose] then", " then"),
    ),
    *mutants(
        "lua/late_items.lua",
        "late_items",
        (
            "what came at this very moment came before",
            "if time + 0 >= least then",
            "if time + 0 > least then",
        ),
    ),
    *mutants(
        "lua/story.lua",
        "find",
        (
            "a story is read without an end",
            "while start and left > 0 and room > 0 do",
            "while start and left > 0 do",
        ),
        (
            "an entry between two looks is not told",
            "entries[step + 1] and entries[step + 1][1]",
            "entries[step + 2] and entries[step + 2][1]",
        ),
    ),
    *mutants(
        "lua/stats.lua",
        "looking moments due",
        ("what is due this very moment is overdue", "'-inf', '(' .. string", "'-inf', string"),
        (
            "the youngest is the oldest",
            "call('ZRANGE', key, 0, 0, 'WITHSCORES')",
            "call('ZRANGE', key, -1, -1, 'WITHSCORES')",
        ),
    ),
    *mutants(
        "lua/journal.lua",
        "looking",
        ("backwards is forwards", "if ARGV[4] == 'back' then", "if ARGV[4] == '' then"),
    ),
    *mutants(
        f"{INCLUDES}/status.lua",
        "conformance/upgrade/schema",
        ("what a later version wrote is written over", "if not clock then", "if not status then"),
    ),
)
