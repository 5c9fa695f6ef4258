"""The arguments of scripts: ids, digests, and their checks."""

from __future__ import annotations

import itertools
import json
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import TypedDict, TypeVar, get_args
from urllib.parse import unquote

from leaseq import form, validation
from leaseq.engine import codec
from leaseq.errors import Invalid, TooLarge
from leaseq.models import DiedOf, Filter, Item, ItemChanges, Json, Lease, LeaseKey, LeaseOutcome, NewItem

T = TypeVar("T")


def each(items: Iterable[T]) -> Iterable[T]:
    """Return the items. Raises Invalid if they are not an iterable, or are text, bytes or a mapping."""
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise Invalid("items", "type", what="items", kind=type(items).__name__)
    return items


def with_digests(rows: Sequence[str]) -> list[str]:
    """Rows of an enqueue (id, head, payload, …) with each payload's digest before its head."""
    new_rows = list(rows)
    for place in range(1, len(new_rows), 3):
        new_rows[place] = digest(new_rows[place + 1]) + new_rows[place]
    return new_rows


def digest(text: str) -> str:
    """The digest of a payload given as JSON: 32 hexadecimal digits."""
    value = json.loads(text, parse_float=_number)
    canonical = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return blake2b(canonical.encode(), digest_size=16).hexdigest()


def digest_of_rows(rows: Sequence[str]) -> str:
    """The digest of all rows of an enqueue (id, head, payload, …): 32 hexadecimal digits."""
    parts = [digest(part) if place % 3 == 2 else part for place, part in enumerate(rows)]
    return blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def _number(text: str) -> float | int:
    number = float(text)
    return int(number) if number.is_integer() else number


_RANDOM_BITS = 46
_ID_BITS = 90
_DIGITS = "0123456789abcdefghijklmnopqrstuv"
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]


class _ItemIdGenerator:
    """A generator of item ids that sort by time; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last_id = 0

    def __call__(self, count: int) -> list[str]:
        """``count`` new ids in ascending order."""
        candidate = int(time.time() * 1000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS - 1)
        with self._lock:
            # In the same millisecond, or if the clock stepped back, continue counting.
            is_later = candidate >> _RANDOM_BITS > self._last_id >> _RANDOM_BITS
            first = candidate if is_later else self._last_id + 1 + secrets.randbits(8)
            self._last_id = first + count - 1
        return _encode_ids(first, count)


def _encode_ids(first: int, count: int) -> list[str]:
    ids: list[str] = []
    stop = first + count
    while first < stop:
        high = first >> 20  # the part shared by up to a million ids
        prefix = "".join(_PAIRS[high >> shift & 1023] for shift in range(60, -1, -10))
        until = min(stop, high + 1 << 20)
        ids += [prefix + _PAIRS[n >> 10 & 1023] + _PAIRS[n & 1023] for n in range(first, until)]
        first = until
    return ids


def derived_id(queue: str, request: str, place: int) -> str:
    """The id of the item at ``place`` (from 0) in this request: the same in every process."""
    digest = blake2b(f"{queue}\0{request}\0{place}".encode(), digest_size=12).digest()
    derived_bit = 1 << _ID_BITS - 1  # never set in an id made from the time
    return _encode_ids(derived_bit | int.from_bytes(digest) % derived_bit, 1)[0]


class _RequestIds:
    """The random prefix and the counter of this process's request ids; a forked child gets new ones."""

    name: str
    calls: Iterator[int]  # next() is atomic across threads


def _name_process() -> None:
    _RequestIds.name = secrets.token_hex(6)
    _RequestIds.calls = itertools.count()


def request_id() -> str:
    """A new request id."""
    return f"{_RequestIds.name}{next(_RequestIds.calls):x}"


_name_process()
os.register_at_fork(after_in_child=_name_process)
item_ids = _ItemIdGenerator()


def id_maker(queue: str, request: str | None, batch: int) -> Callable[[int], str]:
    """A function that returns the id for the item at a place: one derived from the request id, or a new one;
    ``batch`` new ones are made at a time."""
    if request is not None:
        return lambda place: derived_id(queue, request, place)
    spare_ids: list[str] = []

    def new_id(_place: int) -> str:
        if not spare_ids:
            spare_ids.extend(item_ids(batch)[::-1])
        return spare_ids.pop()

    return new_id


MAX_DELAY = 315_360_000  # ten years, in seconds
_REQUEST = re.compile(r"[!-~]{1,128}\Z")
_ENTRY = re.compile(r"([0-9]{1,16})\.([0-9]{1,9})\Z")
_SHELF = r"(?:high|normal|low)(?::[0-9]{1,3})?(?::returned)?"
_CURSOR = re.compile(rf"(?:([^/:]*):({_SHELF}))?/([0-9]{{1,18}})/([0-9]{{1,3}})/(.+)\Z")


class LeaseParts(TypedDict):
    """The parts of a lease, for callers that kept only these."""

    id: str
    token: int
    person: str


_BY_PARTS = "id=, token= and person="


def lease_key(queue: str, lease: object, parts: Mapping[str, object]) -> LeaseKey:
    """Return the id, token and person of the lease passed to a verb: a Lease of this queue, or its parts.

    Raises Invalid if both were passed, or only some of the parts, or neither.
    """
    if isinstance(lease, Lease) and lease.queue == queue and not parts:  # the usual case
        return lease.id, lease.token, lease.person
    if unknown_names := parts.keys() - LeaseParts.__required_keys__:
        raise TypeError(f"unexpected keyword argument {min(unknown_names)!r}")
    if lease is None:
        return _key_by_parts({name: value for name, value in parts.items() if value is not None})
    if not isinstance(lease, Lease):
        raise Invalid("lease", "type", what="lease", parts=_BY_PARTS, kind=type(lease).__name__)
    if lease.queue != queue:
        raise Invalid("lease", "lease", what="queue", queue=queue, other=lease.queue)
    name = min(parts)
    raise Invalid(name, "lease", what="both", name=name, value=getattr(lease, name), parts=_BY_PARTS)


def _key_by_parts(parts: Mapping[str, object]) -> LeaseKey:
    if not parts:
        raise Invalid("lease", "type", what="lease", parts=_BY_PARTS)
    if missing_names := [name for name in LeaseParts.__annotations__ if name not in parts]:
        raise Invalid(missing_names[0], "lease", what="parts", names=list(parts), parts=_BY_PARTS)
    return (
        validation.item_id(parts["id"]),
        validation.integer(parts["token"], "token", 1, 2**53),
        validation.person_name(parts["person"]),
    )


def text(value: str | None, field: str) -> str:
    """Check a reason or an error, and encode it as JSON."""
    return json.dumps(None if value is None else validation.text(value, field), ensure_ascii=False)


def author(person: str | None) -> str:
    return "" if person is None else validation.person_name(person, "by")


def request(value: object) -> str:
    if value is None:
        return request_id()
    if not isinstance(value, str) or not _REQUEST.match(value):
        raise Invalid("request_id", "ascii", minimum=1, maximum=128)
    return value


def numbered_request(request: str, chunk: int, rows: Sequence[str]) -> str:
    """A caller's request id in the form that the server stores: with a chunk's number, and a digest of the
    chunk."""
    return f"{request}\a{chunk}\a{digest_of_rows(rows)}"


def row(new_item: NewItem, id: str) -> list[str]:
    """An item's id, head and payload. The head has a letter for each value that is not the default."""
    head = ""
    if validation.integer(new_item.priority, "priority", 0, validation.MAX_PRIORITY) != 100:
        head += f" p{new_item.priority}"
    if validation.number(new_item.delay, "delay", 0, MAX_DELAY):
        head += f" z{round(new_item.delay * 1e6)}"
    if new_item.at is not None:
        if new_item.delay:
            raise Invalid("at", "not_together", other="delay")
        head += f" z@{_time(new_item.at, 'at')}"
    return [
        validation.item_id(id),
        head + _limits(new_item),
        validation.dump_json(new_item.payload, "payload"),
    ]


def _limits(new_item: NewItem) -> str:
    """The part of the head that says who may have the item, what is asked, how often and until when."""
    head = ""
    if new_item.max_attempts is not None:
        head += f" m{validation.integer(new_item.max_attempts, 'max_attempts', 1, 1_000)}"
    if new_item.due is not None:
        head += f" d{_time(new_item.due, 'due')}"
    if skills := validation.skills(new_item.requires, "requires"):
        head += f" r{','.join(skills)}"
    if new_item.expires is not None:
        head += f" e{_expiry(new_item.expires)}"
    if new_item.to is not None:
        head += f" o{in_head(validation.person_name(new_item.to, 'to'))}"
    if new_item.form is not None:
        head += f" g{own_form(new_item.form)}"
    return head


def _expiry(expires: float | datetime) -> str:
    """Until when an answer is needed, in microseconds; with + before it, from now."""
    if isinstance(expires, datetime):
        return str(_time(expires, "expires"))
    return f"+{round(validation.number(expires, 'expires', 0.001, MAX_DELAY) * 1e6)}"


def in_head(text: str) -> str:
    """Text as it is stored in a record's head."""
    return text.replace(" ", "\a")


def ending(died_of: object, reason: str | None) -> str:
    """The part of a head that says why a dead item is not needed any more."""
    choices = get_args(DiedOf)
    if died_of not in (None, *choices):
        raise Invalid("died_of", "one_of", choices=choices, value=died_of)
    if died_of == "cancelled":
        return f" c{in_head(text(reason, 'reason'))}"
    return " cexpired" if died_of == "expired" else ""


def asked(by: str | None) -> str:
    """The part of a head that says that somebody waits for the answer, and who asked."""
    return "" if by is None else f" q{in_head(by and validation.person_name(by, 'asked_by'))}"


MAX_OWN_FORM = 65_536  # bytes of JSON
_CHECKED_FORMS = 256  # the latest forms of items' own: most items of a queue have one of a few


def own_form(value: Json) -> str:
    """An item's own form in a record's head. Raises Invalid (field ``form``) unless it is a valid form."""
    return _own_form(validation.dump_json(value, "form"))


@lru_cache(_CHECKED_FORMS)
def _own_form(text: str) -> str:
    if (size := len(text.encode())) > MAX_OWN_FORM:
        raise TooLarge("form", "maximum", what="json_bytes", maximum=MAX_OWN_FORM, count=size)
    form.check_form(json.loads(text))
    return f"{form.version_of_text(text)}:{in_head(text)}"


def changes(item_changes: ItemChanges) -> list[str]:
    """The arguments for `change`: for each field its name, its value as in an item's head, and as JSON for
    the journal."""
    if unknown_names := item_changes.keys() - ItemChanges.__annotations__.keys():
        raise TypeError(f"unexpected keyword argument {min(unknown_names)!r}")
    fields: list[str] = []
    if "priority" in item_changes:
        priority = validation.integer(item_changes["priority"], "priority", 0, validation.MAX_PRIORITY)
        fields += ["priority", "" if priority == 100 else str(priority), str(priority)]
    if "due" in item_changes:
        due = None if item_changes["due"] is None else _time(item_changes["due"], "due")
        time_text = None if due is None else codec.to_datetime(due).isoformat().replace("+00:00", "Z")
        fields += ["due", "" if due is None else str(due), json.dumps(time_text)]
    if "requires" in item_changes:
        skills = validation.skills(item_changes["requires"], "requires")
        fields += ["requires", ",".join(skills), json.dumps(skills)]
    if "payload" in item_changes:
        fields += ["payload", validation.dump_json(item_changes["payload"], "payload"), "true"]
    if "delay" in item_changes:
        delay = validation.number(item_changes["delay"], "delay", 0, MAX_DELAY)
        fields += ["delay", str(round(delay * 1e6)), json.dumps(delay)]
    if "answers" in item_changes:
        count = str(validation.integer(item_changes["answers"], "answers", 1, 100))
        fields += ["answers", count, count]
    return fields


def expected_values(expected: Item, names: Collection[str]) -> list[str]:
    """The arguments for `change` with the values of these fields that the item must still have."""
    values = {
        "priority": "" if expected.priority == 100 else str(expected.priority),
        "due": "" if expected.due is None else str(codec.microseconds(expected.due)),
        "requires": ",".join(expected.requires),
        "delay": str(codec.microseconds(expected.state_since)) if expected.state == "scheduled" else "",
    }
    compared = {name: value for name, value in values.items() if name in names}
    return ["expected", json.dumps(compared), ""] if compared else []


def _time(value: object, field: str) -> int:
    if isinstance(value, datetime) and value.tzinfo is not None and 1970 <= value.year <= 9000:
        time = codec.microseconds(value)
        if time >= 0:  # in UTC it may be in 1969
            return time
    raise Invalid(field, "format", what="moment", value=value)


def cursor(after: object, state: str) -> tuple[str, str, str]:
    """Decode the position after which a page begins: row and shelf, score, assignment. Only inbound has
    shelves."""
    if after is None:
        return "", "", ""
    match = _CURSOR.match(after) if isinstance(after, str) else None
    if match is None or (match[1] is None) == (state == "inbound"):
        raise Invalid("after", "format", what="cursor")
    row, shelf, score, number, id = match.groups()
    place = "" if shelf is None else f"{unquote(row)}\t{shelf}"
    return place, score, assignment(validation.item_id(id, "after"), int(number))


def criteria(where: Filter, backwards: bool) -> tuple[str, ...]:
    """Encode a filter for the script `items`."""
    if not isinstance(where, Filter):
        raise Invalid("where", "type", what="filter", kind=type(where).__name__)
    if where.outcome not in (None, *get_args(LeaseOutcome)):
        raise Invalid("outcome", "one_of", choices=get_args(LeaseOutcome), value=where.outcome)
    if where.text and where.outcome not in (None, "abandoned", "failed"):
        raise Invalid("text", "only_with_outcome")
    return (
        "back" if backwards else "",
        time_bound(where.since, "since"),
        time_bound(where.until, "until"),
        validation.text(where.id, "id", validation.MAX_ID),
        "" if where.person is None else validation.person_name(where.person),
        where.outcome or "",
        "" if where.text is None else validation.text(where.text, "text"),
        "" if where.skill is None else validation.skills([where.skill], "skill")[0],
        ""
        if where.given_back_by is None
        else str(validation.integer(where.given_back_by, "given_back_by", 1, 1_000)),
        ""
        if where.answers_above is None
        else str(validation.integer(where.answers_above, "answers_above", 1, 100)),
    )


def time_bound(time: object, field: str) -> str:
    return "" if time is None else str(_time(time, field))


def assignment(id: str, number: int) -> str:
    """The scripts' name for an item's assignment, from its number, which starts at 1."""
    return id if number == 1 else f"{id}\a{number}"


def journal_cursor(after: object) -> tuple[str, int]:
    """The journal entry to begin with, and how many of its events have been seen."""
    if after is None:
        return "-", 0
    entry, number = event(after, "after")
    return entry, number + 1


def journal_cursor_back(before: object) -> tuple[str, int]:
    """The journal entry to begin with, and the number of its events before those already seen."""
    return ("+", 0) if before is None else event(before, "before")


def event(cursor: object, field: str) -> tuple[str, int]:
    """The journal entry of an event, and the event's number in it, from 0."""
    match = _ENTRY.match(cursor) if isinstance(cursor, str) else None
    if match is None:
        raise Invalid(field, "format", what="event_cursor")
    return match[1], int(match[2])
