"""Faults in the rules for people: bars, cursors, several answers, skills, who may have what."""

from tests.mutants.mutant import Mutant, mutants

INCLUDES = "lua/includes"

MUTANTS: tuple[Mutant, ...] = (
    *mutants(
        f"{INCLUDES}/choose.lua",
        "again completeness answers skills cost_of_rules",
        (
            "a cursor goes one entry too far",
            "cursors[head.row .. ':' .. head.shelf], seen.moved = score, true",
            "cursors[head.row .. ':' .. head.shelf], seen.moved = string.format('%.0f', score + 1), true",
        ),
        ("what was put off is not looked at", "    found = from_later(row)\n", "    found = nil\n"),
        (
            "never is for now",
            "if sign == '=' or sign == '-' then return 'never' end",
            "if sign == '=' then return 'never' end",
        ),
        ("two assignments of one item in one hand", "if sign or has_in_hand(id) then", "if sign then"),
        (
            "what was put off is had beside another of it",
            "if shelf and not has_in_hand(item_of(member)) then",
            "if shelf then",
        ),
        ("one skill of several is enough", "fits = fits and has[skill]", "fits = has[skill] or fits"),
        (
            "what is another's alone is anybody's",
            "string.byte(all[i]) ~= 64 or all[i] == '@' .. person",
            "true",
        ),
        ("the younger of two shelves goes first", "+ 0 < heads[first].entries", "+ 0 > heads[first].entries"),
    ),
    *mutants(
        f"{INCLUDES}/choose.lua",
        "cost_of_rules again late_of_several completeness",
        ("a look has no end", "local LOOKS, BESIDE = 100, 400", "local LOOKS, BESIDE = 100000, 400"),
        (
            "a look beside what is held has no end",
            "local LOOKS, BESIDE = 100, 400",
            "local LOOKS, BESIDE = 100, 400000",
        ),
    ),
    *mutants(
        f"{INCLUDES}/remember.lua",
        "again completeness cost_of_rules skills",
        (
            "what was passed over for now is forgotten",
            "call('ZADD', later_key(one[1], person), 'NX', at, one[2])",
            "bar_of('', one[2])",
        ),
        ("a cursor is not kept", "    call('HSET', CURSORS, person, text)\n", ""),
        ("what is gone stays put off", "    call('ZREM', gone[1], gone[2])\n", ""),
    ),
    *mutants(
        f"{INCLUDES}/remember.lua",
        "skills",
        (
            "an empty row stays in use",
            "      call('HDEL', ROWS, head.row)\n",
            "      call('HSET', ROWS, head.row, '')\n",
        ),
    ),
    *mutants(
        f"{INCLUDES}/bars.lua",
        "again answers max_abandons",
        ("whoever answered may answer again after a revive", "'\\t([=@][^\\t]+)'", "'\\t([@][^\\t]+)'"),
        ("barred for ever", "'\\t([=@][^\\t]+)'", "'\\t([=@-][^\\t]+)'"),
        (
            "a new word stands beside the old one",
            "  if old then bars = string.sub(bars, 1, first) .. string.sub(bars, last + 1) end\n",
            "",
        ),
    ),
    *mutants(
        f"{INCLUDES}/may_answer.lua",
        "late_of_several assign",
        (
            "who answered may answer again",
            "  if bar_of(call('HGET', BARS, id), person) == '=' then return false end\n",
            "",
        ),
        (
            "who holds another of it may answer this one, too",
            "    and not string.find(hands, '\\t' .. id .. '\\a', 1, true)\n",
            "",
        ),
    ),
    *mutants(
        f"{INCLUDES}/following.lua",
        "answers skills",
        ("one answer too few", "round > answers + 0", "round >= answers + 0"),
        ("one answer too many", "round > answers + 0", "round > answers + 1"),
        ("later answers require no skill", "d = item.d, r = item.r,", "d = item.d,"),
    ),
    *mutants(
        f"{INCLUDES}/alive.lua",
        "renew moments why_nothing looking",
        ("a lease that runs out this moment fills a hand", ")) > now then", ")) >= now then"),
    ),
    *mutants(
        "lua/mine.lua",
        "looking moments",
        (
            "a lease that runs out this moment is held",
            "if expiry_of(grant) > now then",
            "if expiry_of(grant) >= now then",
        ),
        ("what ran out is held", "if expiry_of(grant) > now then", "if grant then"),
    ),
    *mutants(
        "lua/why_nothing.lua",
        "why_nothing looking moments",
        ("a pause is no reason", "if paused then return { 'paused', paused } end\n", ""),
        (
            "what is free this very moment is nothing",
            "(lease and lease + 0 <= now) or (due and due + 0 <= now)",
            "(lease and lease + 0 < now) or (due and due + 0 < now)",
        ),
        ("the later of two is the first", "math.min(lease + 0, due + 0)", "math.max(lease + 0, due + 0)"),
    ),
    *mutants(
        f"{INCLUDES}/obstacles.lua",
        "why_nothing",
        ("skills that they have are lacking", "if not has[skill] then", "if skill then"),
    ),
    *mutants(
        f"{INCLUDES}/unassign.lua",
        "assign",
        ("what is theirs stays theirs though they answered", "      item.o = nil\n", ""),
    ),
    *mutants(
        "lua/abandon.lua",
        "assign",
        (
            "who will never have it keeps the rest of it that is assigned to them",
            "  unassign(id, person, member)\n",
            "",
        ),
        ("who gives it back for later loses the rest of it", "if again == 'never' and string", "if string"),
    ),
    *mutants(
        "lua/assign.lua",
        "assign skills",
        (
            "who answered has the rest of it assigned",
            "if not may_answer(id, person, holdings) then return { 'answered', describe(id) } end\n",
            "",
        ),
        ("what is assigned is anybody's", "chosen.o = whom\n", ""),
        ("what is assigned waits twice", "  call('ZREM', set, chosen.id)\n", ""),
        (
            "any number of persons",
            "if full_of_rows({ ['@' .. person] = true }) then return { 'rows', MOST_ROWS } end\n",
            "",
        ),
        (
            "assigning is not in the journal",
            "moved('assigned', id, '', ARGV[3], person)\n",
            "save()\n",
        ),
    ),
    *mutants(
        f"{INCLUDES}/assignments.lua",
        "answers guarantees",
        (
            "a token of one assignment moves another",
            "if #members == 1 or grant and string.sub(grant, 1, #claim) == claim then",
            "if grant then",
        ),
    ),
)
