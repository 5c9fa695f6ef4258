"""The managers' log: who changed what about whom, and who signed in or failed to.

Sign-ins are in a separate stream, since strangers can fill it and must not displace the managers' entries.

``what`` is a code, ``kind.act``, which the page puts into a sentence, and by whose kind it filters. The
details are values by name, stored as JSON: texts, numbers and lists, and under ``changes`` for each changed
field the values before and after. ``text`` is a detail as it was typed.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from leaseq import Invalid, LeaseqError, webhooks
from leaseq.webapp.store.accounts import model
from leaseq.webapp.store.base import Store

log = logging.getLogger(__name__)

LOG_LENGTH = 50_000
MAX_DETAIL = 500
_PERSON = "person."  # the prefix of events about people
_MARK = "s"  # at the end of the cursor of a sign-in
_BATCH = 500  # entries per call to the server
_SIGN_INS = frozenset({"sign-in.done", "sign-in.failed", "sign-in.limited"})
_MAX_BATCHES = 10  # calls per page, even if the filter leaves out all


@dataclass(frozen=True, slots=True)
class LogEntry:
    cursor: str
    at: datetime
    by: str
    what: str
    about: str
    values: Mapping[str, Any]

    @property
    def detail(self) -> str:
        return detail_of(self.values)

    @property
    def kind(self) -> str:
        return self.what.partition(".")[0]


@dataclass(frozen=True, slots=True)
class LogPage:
    entries: tuple[LogEntry, ...]
    after: str | None  # the cursor of the next page; None: there is none


class Log(Store):
    """The managers' log; entries are read latest first. Webhooks send events about people, too."""

    def write(self, by: str, what: str, about: str, text: str = "", **values: Any) -> None:
        """Write an entry with its details; those that are None or empty are left out."""
        detail = self.add(by, what, about, text, **values)
        type = f"{_PERSON}joined" if what == "invitation.used" else what
        if type.startswith(_PERSON):
            webhooks.emit(self._client, type, {"name": about, "by": by, "detail": detail})

    def note(self, by: str, what: str, about: str, text: str = "", **values: Any) -> None:
        """Write an entry about a change that is done. A failure is only logged: after an error, the caller
        would repeat the change."""
        try:
            self.write(by, what, about, text, **values)
        except LeaseqError:
            log.warning("the log lacks %s by %s", what, by, exc_info=True)

    def add(self, by: str, what: str, about: str, text: str = "", **values: Any) -> str:
        """Write an entry that no webhook sends. Returns its details in words."""
        stored = {name: _shortened(value) for name, value in {"text": text, **values}.items()}
        stored = {name: value for name, value in stored.items() if value not in (None, "")}
        entry = {"by": by, "what": what, "about": about, "detail": dump_values(stored)}
        stream = model.SIGN_INS if what in _SIGN_INS else model.LOG
        self._redis.xadd(stream, entry, maxlen=LOG_LENGTH, approximate=True)
        return detail_of(stored)

    def latest(self, limit: int = 50) -> tuple[LogEntry, ...]:
        return self.page(limit=limit).entries

    def page(
        self, *, after: str | None = None, limit: int = 50, person: str | None = None, kind: str | None = None
    ) -> LogPage:
        """Entries by or about a person, or of a kind. One page reads a limited number of entries, so it may
        be short, or empty, although there are more."""
        entries: list[LogEntry] = []
        cursor = _checked(after)
        for _ in range(_MAX_BATCHES):
            batch = self._before(cursor)
            for entry in batch:
                if kind in (None, entry.kind) and person in (None, entry.by, entry.about):
                    if len(entries) == limit:
                        return LogPage(tuple(entries), entries[-1].cursor)
                    entries.append(entry)
            if len(batch) < _BATCH:
                return LogPage(tuple(entries), None)
            cursor = batch[-1].cursor
        return LogPage(tuple(entries), cursor)

    def _before(self, cursor: str | None) -> list[LogEntry]:
        """The latest entries of both streams before the cursor. If two have the same id, the sign-in comes
        first."""
        id, is_sign_in = (cursor.removesuffix(_MARK), cursor.endswith(_MARK)) if cursor else ("", False)
        if id and not any(
            map(int, id.split("-"))
        ):  # the server refuses an interval that ends before the first id
            return []
        maximum = f"({id}" if id else "+"
        pipe = self._redis.pipeline(transaction=False)
        pipe.xrevrange(model.LOG, max=id if is_sign_in else maximum, count=_BATCH)
        pipe.xrevrange(model.SIGN_INS, max=maximum, count=_BATCH)
        changes, sign_ins = pipe.execute()
        entries = [_entry(name.decode(), fields) for name, fields in changes]
        entries += [_entry(name.decode() + _MARK, fields) for name, fields in sign_ins]
        return sorted(entries, key=_place_of, reverse=True)[:_BATCH]


def dump_values(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False)


def _shortened(value: Any) -> Any:
    """A detail with its texts cut off, so that an entry stays small."""
    if isinstance(value, str):
        return value if len(value) <= MAX_DETAIL else value[: MAX_DETAIL - 1] + "…"
    if isinstance(value, Mapping):
        return {name: _shortened(inner) for name, inner in value.items()}
    return [_shortened(inner) for inner in value] if isinstance(value, list | tuple) else value


def detail_of(values: Mapping[str, Any]) -> str:
    """Details in the words of programs: ``reason: lunch, lease_seconds: 60 → 30``."""
    parts: list[str] = []
    for name, value in values.items():
        if name == "changes":
            parts += [_change_text(field, change) for field, change in value.items()]
        else:
            parts.append(_text(value) if name == "text" else f"{name}: {_text(value)}")
    return ", ".join(parts)


def _change_text(field: str, change: list[Any]) -> str:
    before, after = map(_text, change)
    return f"{field}: {before} → {after}"


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{name} {_text(inner)}" for name, inner in value.items() if inner) or "none"
    if isinstance(value, list):
        texts = (" ".join(map(_text, inner)) if isinstance(inner, list) else _text(inner) for inner in value)
        return ", ".join(texts) or "none"
    return str(value) if value not in (None, "") else "none"


def _checked(after: str | None) -> str | None:
    parts = (after or "0-0").removesuffix(_MARK).split("-")
    if len(parts) != 2 or not all(part.isascii() and part.isdecimal() and len(part) < 20 for part in parts):
        raise Invalid("after", "format", what="cursor")
    return after


def _place_of(entry: LogEntry) -> tuple[int, int, bool]:
    time, _, number = entry.cursor.removesuffix(_MARK).partition("-")
    return int(time), int(number), entry.cursor.endswith(_MARK)


def _entry(cursor: str, fields: dict[bytes, bytes]) -> LogEntry:
    at = datetime.fromtimestamp(int(cursor.partition("-")[0]) / 1_000, UTC)
    texts = {name.decode(): value.decode() for name, value in fields.items()}
    return LogEntry(cursor, at, texts["by"], texts["what"], texts["about"], json.loads(texts["detail"]))
