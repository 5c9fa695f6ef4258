"""Faults that no operator can make, planted by changed behaviour instead of changed lines.

A fault of a script is put before it and changes what ``redis.call``, ``string`` or ``math`` do in it.
One of a Python module is put at its end and replaces one of its functions or values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.meta.mutants.lua_tokens import tokens


@dataclass(frozen=True, slots=True)
class Fault:
    id: str  # in words: what is wrong
    file: str
    code: str
    tests: tuple[str, ...]  # names of test functions, one of which must fail

    def apply(self, text: str) -> str:
        if self.file.endswith(".py"):
            return f"{text}\n\n{self.code}"
        # After the header, on the same line as the first statement, so that all lines keep their numbers.
        start = tokens(text)[0].start
        return text[:start] + " ".join(self.code.split()) + " " + text[start:]

    def diff(self, _text: str) -> str:
        return self.code.strip()


def script_faults(id: str, verbs: str, code: str, *tests: str) -> Iterator[Fault]:
    return (Fault(f"{id} ({verb})", f"lua/{verb}.lua", code, tests) for verb in verbs.split())


def replace_call(body: str) -> str:
    """Replace ``redis.call`` by ``body``, which can use the command, its key, and ``has(part)``: whether the
    key belongs to this part of the queue."""
    return f"""
        local redis = (function()
            local real, held = redis.call, {{}}
            local function call(...)
                local command, key = ...
                local function has(part) return key and string.find(key, ':' .. part, 1, true) ~= nil end
                {body}
            end
            return setmetatable({{ call = call }}, {{ __index = redis }})
        end)()
        """


def remove_early(set_: str, to: str = "") -> str:
    """Remove members from one set before they are added to another. If the server stops the script between
    the two, they are in neither."""
    return replace_call(f"""
        if command == 'ZADD' and has('{to}') then
            held[#held + 1] = {{ ... }}
            return 1
        end
        local reply = real(...)
        if command == 'ZREM' and has('{set_}') then
            for _, one in ipairs(held) do real(unpack(one)) end
            held = {{}}
        end
        return reply
        """)


def exclude_this_moment(set_: str) -> str:
    """Don't count as ended what ends at exactly this microsecond."""
    return replace_call(f"""
        if command == 'ZRANGEBYSCORE' and has('{set_}') then
            local words = {{ ... }}
            words[4] = '(' .. string.format('%.0f', words[4])
            return real(unpack(words))
        end
        return real(...)
        """)


# The ordinary case uses ZRANGE.
NEWEST_FIRST = replace_call("""
    local words = { ... }
    if command == 'ZRANGE' and has('inbound') then
        words[1] = 'ZREVRANGE'
    elseif command == 'ZRANGEBYSCORE' and has('inbound') then
        words[1], words[3], words[4] = 'ZREVRANGEBYSCORE', words[4], words[3]
    end
    return real(unpack(words))
    """)
NEWEST_FIRST_IN_THE_ORDINARY_CASE = replace_call("""
    if command == 'ZRANGE' and has('inbound') then return real('ZREVRANGE', select(2, ...)) end
    return real(...)
    """)

# Names, ids and tokens come from outside and may contain magic characters of patterns.
FIND_TAKES_PATTERNS = """
    local string = setmetatable({
        find = function(text, words, start) return string.find(text, words, start) end
    }, { __index = string })
    """

# As `..` formats it: a time in microseconds has 16 digits.
TIMES_OF_14_DIGITS = """
    local string = setmetatable({
        format = function(form, ...)
            return string.format((form == '%.0f' or form == '%d') and '%.14g' or form, ...)
        end
    }, { __index = string })
    """

NO_JITTER = """
    local math = setmetatable({ random = function() return 0 end }, { __index = math })
    """

FAULTS: tuple[Fault, ...] = (
    *script_faults(
        "what is granted leaves inbound before it is in reserved",
        "reserve finish",
        remove_early("inbound", to="reserved"),
        "test_nothing_is_lost",
        "test_the_next_item_after_a_finish_is_not_lost",
    ),
    *script_faults(
        "what leaves reserved is nowhere for a moment",
        "abandon clear fail finish release reserve",
        remove_early("reserved"),
        "test_nothing_is_lost",
    ),
    *script_faults(
        "what leaves scheduled is nowhere for a moment",
        "clear",
        remove_early("scheduled"),
        "test_nothing_is_lost",
    ),
    *script_faults(
        "what leaves dead is nowhere for a moment", "revive", remove_early("dead"), "test_nothing_is_lost"
    ),
    *script_faults(
        "what leaves finished is nowhere for a moment",
        "undo_finish",
        remove_early("finished"),
        "test_nothing_is_lost",
    ),
    *script_faults("the newest first", "reserve", NEWEST_FIRST, "test_the_oldest_first"),
    *script_faults("the newest first", "finish", NEWEST_FIRST, "test_the_next_item_is_the_oldest"),
    *script_faults(
        "the newest first in the ordinary case",
        "reserve",
        NEWEST_FIRST_IN_THE_ORDINARY_CASE,
        "test_the_oldest_first",
    ),
    *script_faults(
        "the newest first in the ordinary case",
        "finish",
        NEWEST_FIRST_IN_THE_ORDINARY_CASE,
        "test_the_next_item_is_the_oldest",
    ),
    *script_faults(
        "a lease that runs out this very microsecond is not over",
        "reserve",
        exclude_this_moment("reserved"),
        "test_reserve_returns_it",
    ),
    *script_faults(
        "what is due this very microsecond is not due",
        "reserve",
        exclude_this_moment("scheduled"),
        "test_reserve_releases_what_is_due",
    ),
    *script_faults(
        "a name is read as a pattern",
        "finish abandon reserve renew",
        FIND_TAKES_PATTERNS,
        "test_what_is_finished_leaves_the_right_item_in_the_hands",
        "test_one_who_answered_keeps_the_item_from_nobody_else",
        "test_one_who_answered_keeps_nobody_from_renewing",
        "test_two_who_gave_an_item_back_are_two",
    ),
    *script_faults(
        "the last digits of times are lost",
        "enqueue finish renew reserve",
        TIMES_OF_14_DIGITS,
        "test_items_of_one_moment_keep_the_order_of_their_calls",
        "test_an_answer_is_kept_whole",
        "test_a_renewed_lease_ends_a_full_lease_later_to_the_microsecond",
    ),
    *script_faults(
        "what fails together comes back together",
        "fail",
        NO_JITTER,
        "test_items_that_failed_together_do_not_come_back_together",
    ),
    Fault(
        "two queues make one id of a request",
        "leaseq/engine/ids.py",
        """
_right = derived_id


def derived_id(queue: str, request: str, place: int) -> str:
    return _right("", request, place)
""",
        ("test_a_request_id_makes_an_item_in_each_queue",),
    ),
    Fault(
        "all items of a request have one id",
        "leaseq/engine/ids.py",
        """
_right = derived_id


def derived_id(queue: str, request: str, place: int) -> str:
    return _right(queue, request, 0)
""",
        ("test_many_sent_again_enter_once_and_are_counted_the_same",),
    ),
    Fault(
        "renewals come when the lease is over",
        "leaseq/worker/heartbeat.py",
        "_SHARE = 1.5\n",
        ("test_a_renewal_is_planned_within_a_third_of_the_lease",),
    ),
    Fault(
        "every form has one version",
        "leaseq/form.py",
        "def version(form: Json) -> str:\n    return '0' * 12\n",
        ("test_one_form_after_another_counts_at_once",),
    ),
    Fault(
        "equal payloads in another order of keys are two",
        "leaseq/engine/digest.py",
        """
def digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
""",
        ("test_what_is_equal",),
    ),
    Fault(
        "a number with a formula behind it is a number",
        "leaseq/transfer/cells.py",
        """
class _Begins:
    fullmatch = _NUMBER.match


_NUMBER = _Begins()
""",
        ("test_what_a_spreadsheet_would_run_gets_an_apostrophe",),
    ),
    Fault(
        "a sign behind a pipe is no formula",
        "leaseq/transfer/cells.py",
        '_SPLIT = re.compile(_SPLIT.pattern.replace("|", "", 1))\n',
        ("test_what_a_spreadsheet_would_run_gets_an_apostrophe",),
    ),
    Fault(
        "equal keys of two persons are one request",
        "webapp/api/idempotency.py",
        """
_right = _hash


def _hash(*parts: str) -> str:
    return _right(*parts[1:])
""",
        ("test_a_key_belongs_to_a_person_and_a_path",),
    ),
    Fault(
        "all pages have one nonce",
        "webapp/security/headers.py",
        """
class secrets:
    token_urlsafe = staticmethod(lambda _: "always the same")
""",
        ("test_every_page_has_the_headers_and_a_nonce_of_its_own",),
    ),
)
