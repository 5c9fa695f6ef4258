"""What callers hand to a queue, checked and turned into what the moves take."""

from __future__ import annotations

import json
import re
from datetime import datetime

from leaseq import ids, records, strict
from leaseq.errors import Invalid
from leaseq.model import Item, Json, Lease, NewItem

MAX_DELAY = 315_360_000  # ten years, in seconds
_REQUEST = re.compile(r"[!-~]{1,128}\Z")
_ENTRY = re.compile(r"\d+(-\d+)?\.\d+\Z")


def claim(lease: object, id: str | None, token: int | None, person: str | None) -> tuple[str, int, str]:
    """The id, token and person of a lease, given whole or by its parts."""
    if lease is not None:
        if not isinstance(lease, Lease):
            raise Invalid("lease", "a Lease, or id=, token= and person= by keyword")
        return lease.id, lease.token, lease.person
    return (
        strict.item_id(id),
        strict.integer(token, "token", 1, 2**53),
        strict.person_name(person),
    )


def given(value: Json, field: str) -> Json:
    if value is ...:
        raise Invalid(field, "a JSON value (none was given)")
    return value


def text(value: str | None, field: str) -> str:
    """A reason or an error, as JSON."""
    return json.dumps(None if value is None else strict.text(value, field), ensure_ascii=False)


def by(person: str | None) -> str:
    return "" if person is None else strict.person_name(person, "by")


def request(value: object) -> str:
    if value is None:
        return ids.request_id()
    if not isinstance(value, str) or not _REQUEST.match(value):
        raise Invalid("request_id", "1 to 128 printable ASCII characters without spaces")
    return value


def row(new: NewItem, id: str) -> list[str]:
    """An item's id, head and payload. The head has a letter for each thing that is not the default."""
    head = ""
    if strict.integer(new.priority, "priority", 0, strict.MAX_PRIORITY) != 100:
        head += f" p{new.priority}"
    if strict.number(new.delay, "delay", 0, MAX_DELAY):
        head += f" z{round(new.delay * 1e6)}"
    if new.max_attempts is not None:
        head += f" m{strict.integer(new.max_attempts, 'max_attempts', 1, 1_000)}"
    if new.due is not None:
        head += f" d{_time(new.due, 'due')}"
    if strict.skills(new.requires, "requires"):
        raise Invalid("requires", "no skills: this version hands every item to anybody")
    return [strict.item_id(id), head, strict.dump_json(new.payload, "payload")]


def _time(value: object, field: str) -> int:
    if not isinstance(value, datetime) or value.tzinfo is None or value.year < 1970:
        raise Invalid(field, "a datetime with a time zone, from 1970 on")
    return records.microseconds(value)


def cursor(after: object) -> tuple[str, str, str]:
    """Shelf, score and id of the item that a page begins behind."""
    if after is None:
        return "", "", ""
    shelf, _, rest = after.partition("/") if isinstance(after, str) else ("", "", "")
    score, _, id = rest.partition("/")
    if not score.isdecimal() or not id:
        raise Invalid("after", "a cursor, as the page before gave it")
    return shelf, score, id


def journal_cursor(after: object) -> tuple[str, int]:
    """The journal entry to begin with, and how many of its moves were seen."""
    if after is None:
        return "-", 0
    if not isinstance(after, str) or not _ENTRY.match(after):
        raise Invalid("after", "the cursor of an event")
    entry, _, place = after.rpartition(".")
    return entry, int(place) + 1


def lost(item: Item, kept: bool) -> str:
    """What a person is told whose lease is gone."""
    now = {
        "inbound": "it waits for somebody again",
        "scheduled": "it will be tried again later",
        "reserved": "somebody else is on it now",
        "finished": "it is finished",
        "dead": "its attempts are used up",
    }
    answer = "; the answer is kept for the manager" if kept else ""
    return f"this lease of item {item.id!r} is over: {now[item.state]}{answer}"
