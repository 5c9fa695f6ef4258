"""Faults in what is kept of a lease: the marks of its grant, the due date, and what an undo finds."""

from tests.mutants.mutant import Mutant, mutants

INCLUDES = "lua/includes"

MUTANTS: tuple[Mutant, ...] = (
    *mutants(
        f"{INCLUDES}/grant.lua",
        "renew drafts due undo_finish",
        (
            "a renewal forgets the draft, that it is due, and which undo it came by",
            "new[letter] or mark_of(grant, letter)",
            "new[letter]",
        ),
        (
            "a mark is looked for in the person's name",
            "'^%d+\\t[^\\t]*\\t[^\\n]- ' .. letter",
            "'^[^\\n]- ' .. letter",
        ),
    ),
    *mutants(
        "lua/renew.lua",
        "undo_finish",
        (
            "an undo's request counts as a renewal's",
            "mark_of(grant, 'q') == request",
            "mark_of(grant, 'u') == request",
        ),
    ),
    *mutants(
        "lua/undo_finish.lua",
        "undo_finish",
        (
            "what a manager adopted is undone",
            "if mark_of(grant, 'a') then",
            "if false then",
        ),
        (
            "a piece of the grant is taken for the request",
            "mark_of(latest, 'u') == request then",
            "string.find(latest, request, 1, true) then",
        ),
        (
            "the attempts of another assignment count here",
            "mark_of(line, 'm') and (item.a or 0) or string.match",
            "string.match",
        ),
    ),
    *mutants(
        f"{INCLUDES}/answered.lua",
        "due drafts",
        (
            "an answer that never comes to be is waited for",
            "    local missing = false\n",
            "    --- @include rules\n    local missing = #members < answers + 0\n",
        ),
        ("a late answer for what is dead makes nothing due again", "if source == DEAD then", "if false then"),
    ),
    *mutants(
        f"{INCLUDES}/due_again.lua",
        "due",
        (
            "beside what is dead it is due",
            "    if member ~= but and call('ZSCORE', DEAD, member) then return end\n",
            "",
        ),
        ("what was dead counts as dead", "member ~= but and call", "call"),
        ("it is never due again", "  if due then call('ZADD', DUE, due, id) end\n", ""),
    ),
)
