"""Faults that no operator can make, planted by changed behaviour instead of changed lines.

A fault of a script is put before it and changes what ``redis.call``, ``string`` or ``math`` do in it.
One of a Python module is put at its end and replaces one of its functions or values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tools.mutants.lua_tokens import tokens


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
        "a granted item leaves inbound before it is in reserved",
        "reserve finish",
        remove_early("inbound", to="reserved"),
        "test_aborted_script_loses_no_item",
        "test_aborted_finish_and_reserve_loses_no_item",
    ),
    *script_faults(
        "an item that leaves reserved is in no set for a moment",
        "abandon clear fail finish release reserve",
        remove_early("reserved"),
        "test_aborted_script_loses_no_item",
    ),
    *script_faults(
        "an item that leaves scheduled is in no set for a moment",
        "clear",
        remove_early("scheduled"),
        "test_aborted_script_loses_no_item",
    ),
    *script_faults(
        "an item that leaves dead is in no set for a moment",
        "revive",
        remove_early("dead"),
        "test_aborted_script_loses_no_item",
    ),
    *script_faults(
        "an item that leaves finished is in no set for a moment",
        "undo_finish",
        remove_early("finished"),
        "test_aborted_script_loses_no_item",
    ),
    *script_faults("the newest first", "reserve", NEWEST_FIRST, "test_oldest_item_is_reserved_first"),
    *script_faults("the newest first", "finish", NEWEST_FIRST, "test_the_next_item_is_the_oldest"),
    *script_faults(
        "the newest first in the ordinary case",
        "reserve",
        NEWEST_FIRST_IN_THE_ORDINARY_CASE,
        "test_oldest_item_is_reserved_first",
    ),
    *script_faults(
        "the newest first in the ordinary case",
        "finish",
        NEWEST_FIRST_IN_THE_ORDINARY_CASE,
        "test_the_next_item_is_the_oldest",
    ),
    *script_faults(
        "a lease has not expired at the microsecond of its expiry",
        "reserve",
        exclude_this_moment("reserved"),
        "test_reserve_grants_item_at_exact_expiry",
    ),
    *script_faults(
        "an item is not due at the microsecond of its time",
        "reserve",
        exclude_this_moment("scheduled"),
        "test_reserve_grants_scheduled_item_at_exact_time",
    ),
    *script_faults(
        "a name is read as a pattern",
        "finish abandon reserve renew",
        FIND_TAKES_PATTERNS,
        "test_finish_does_not_remove_lease_of_item_with_similar_id",
        "test_person_with_name_similar_to_answerer_can_reserve",
        "test_person_with_name_similar_to_answerer_can_renew",
        "test_abandons_of_people_with_similar_names_count_separately",
    ),
    *script_faults(
        "the last digits of times are lost",
        "enqueue finish renew reserve",
        TIMES_OF_14_DIGITS,
        "test_items_enqueued_at_same_time_keep_order_of_calls",
        "test_answer_is_stored_unchanged",
        "test_a_renewed_lease_ends_a_full_lease_later_to_the_microsecond",
    ),
    *script_faults(
        "items that fail together come back together",
        "fail",
        NO_JITTER,
        "test_items_that_failed_together_do_not_come_back_together",
    ),
    Fault(
        "two queues make one id of a request",
        "leaseq/engine/arguments.py",
        """
_right = derived_id


def derived_id(queue: str, request: str, place: int) -> str:
    return _right("", request, place)
""",
        ("test_same_request_id_adds_item_in_each_queue",),
    ),
    Fault(
        "all items of a request have one id",
        "leaseq/engine/arguments.py",
        """
_right = derived_id


def derived_id(queue: str, request: str, place: int) -> str:
    return _right(queue, request, 0)
""",
        ("test_repeated_enqueue_many_adds_once_and_returns_same_counts",),
    ),
    Fault(
        "renewals come after the lease has expired",
        "leaseq/worker/heartbeat.py",
        "_SHARE = 1.5\n",
        ("test_a_renewal_is_planned_within_a_third_of_the_lease",),
    ),
    Fault(
        "every form has one version",
        "leaseq/form/__init__.py",
        "def version(form: Json) -> str:\n    return '0' * 12\n",
        ("test_successive_form_changes_apply_at_once",),
    ),
    Fault(
        "equal payloads with another order of keys are different",
        "leaseq/engine/arguments.py",
        """
def digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
""",
        ("test_payloads_are_compared_as_json_values",),
    ),
    Fault(
        "a number followed by a formula is a number",
        "leaseq/transfer/writing.py",
        """
class _Begins:
    fullmatch = _JSON_NUMBER.match


_JSON_NUMBER = _Begins()
""",
        ("test_spreadsheet_formula_in_a_cell_gets_an_apostrophe",),
    ),
    Fault(
        "equal keys of two people are one request",
        "webapp/api/idempotency.py",
        """
_right = _hash


def _hash(*parts: str) -> str:
    return _right(*parts[1:])
""",
        ("test_idempotency_key_is_scoped_to_person_and_path",),
    ),
    Fault(
        "all pages have one nonce",
        "webapp/security/headers.py",
        """
class secrets:
    token_urlsafe = staticmethod(lambda _: "always the same")
""",
        ("test_pages_have_security_headers_and_unique_nonce",),
    ),
)
