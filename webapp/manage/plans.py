"""How a file is to be taken in: its format, and which column becomes what."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, BinaryIO

from flask_babel import gettext as _
from werkzeug.datastructures import MultiDict

from leaseq import Json, transfer
from leaseq.transfer import BadRow, NewItem, Picked

ROWS_SHOWN = 5
ROWS_LOOKED_AT = 200
FINDINGS_SHOWN = 5
ENVELOPE = {"payload", "id", "priority", "delay", "requires", "due", "max_attempts"}
ROLES = ("id", "priority", "due", "requires")


@dataclass(frozen=True, slots=True)
class Plan:
    file: str
    format: str
    envelope: bool = False
    columns: tuple[str, ...] | None = None  # those of the payload; None: all
    id: str | None = None
    priority: str | None = None
    due: str | None = None
    requires: str | None = None

    @classmethod
    def sent(cls, form: MultiDict[str, str], file: str) -> Plan:
        """As a page's form says it, or Invalid."""
        plan = cls(
            file[:200],
            form.get("format") or transfer.format_of(file),
            envelope=form.get("envelope") == "yes",
            columns=tuple(form.getlist("column")) if form.get("chosen") else None,
            **{role: form.get(role) or None for role in ROLES},
        )
        plan.rows(io.BytesIO())  # refused at once where it doesn't go together
        return plan

    @classmethod
    def kept(cls, data: dict[str, Any]) -> Plan:
        columns = data.pop("columns")
        return cls(**data, columns=None if columns is None else tuple(columns))

    def to_keep(self) -> dict[str, Any]:
        return asdict(self)

    def rows(self, stream: BinaryIO) -> Iterator[NewItem | BadRow]:
        if self.envelope:
            return transfer.read(stream, self.format, envelope=True)
        return transfer.read(stream, self.format, picked=self._picked())

    def _picked(self) -> Picked | None:
        picked = Picked(self.columns, self.id, self.priority, self.due, self.requires)
        return picked if picked != Picked() else None


@dataclass(frozen=True, slots=True)
class Look:
    """What the first rows of a file are, and what is wrong in them under a plan."""

    plan: Plan
    columns: tuple[str, ...]
    rows: tuple[Json, ...]
    findings: tuple[tuple[int, str], ...]  # line and what is wrong
    tables: bool  # whether its rows can only be payloads


def look_at(piece: bytes, whole: bool, sent: MultiDict[str, str], file: str) -> Look:
    """Look at the first piece of a file. Where nothing is chosen yet, the columns' names tell."""
    plan = Plan.sent(sent, file)
    data = piece if whole else _cut(piece, plan.format)
    plain = Plan(plan.file, plan.format)
    rows = [row.payload for row in _first(plain.rows(io.BytesIO(data)), whole) if isinstance(row, NewItem)]
    columns = tuple(dict.fromkeys(name for row in rows if isinstance(row, dict) for name in row))
    table = plan.format in ("csv", "tsv")
    if not sent.get("looked"):
        plan = _guessed(plan, columns, rows, table)
    bad = [row for row in _first(plan.rows(io.BytesIO(data)), whole) if isinstance(row, BadRow)]
    findings = [(row.line, row.message + _hint(row, data)) for row in bad[:FINDINGS_SHOWN]]
    if table and len(columns) == 1 and ";" in columns[0]:
        findings.append(
            (1, _("There is one column only. Is it split by semicolons? Save it with commas, or as TSV."))
        )
    return Look(plan, columns, tuple(rows[:ROWS_SHOWN]), tuple(findings), table)


def _first(rows: Iterable[NewItem | BadRow], whole: bool) -> list[NewItem | BadRow]:
    """The first rows; where the piece ends in the middle of one, without that."""
    found = list(itertools.islice(rows, ROWS_LOOKED_AT))
    if not whole and found and isinstance(found[-1], BadRow) and len(found) < ROWS_LOOKED_AT:
        found.pop()
    return found


def _cut(piece: bytes, format: str) -> bytes:
    return piece if format == "json" else piece[: piece.rfind(b"\n") + 1]


def _guessed(plan: Plan, columns: tuple[str, ...], rows: list[Json], table: bool) -> Plan:
    whole_items = bool(rows) and all(isinstance(row, dict) and "payload" in row for row in rows)
    if whole_items and not table and set(columns) <= ENVELOPE:
        return replace(plan, envelope=True)
    by_name = {name.strip().lower(): name for name in reversed(columns)}
    guessed: dict[str, Any] = {role: by_name.get(role) for role in ROLES}
    return replace(plan, **guessed)


def _hint(row: BadRow, data: bytes) -> str:
    if "UTF-8" not in row.message and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ""
    return " " + str(_("Save the file as UTF-8 (in a spreadsheet: “CSV UTF-8”) and choose it again."))
