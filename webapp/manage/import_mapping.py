"""The mapping of an import: the file's format, and which column becomes what."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, BinaryIO

from flask_babel import gettext as _
from werkzeug.datastructures import MultiDict

from leaseq import Json, transfer, validation
from leaseq.transfer import BadRow, NewItem, Picked, TableSummary
from leaseq.webapp.manage.remarks import bad_row_message

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
    delimiter: str | None = None  # by its name; None: as the header tells
    quotes: transfer.Quotes = "auto"

    @classmethod
    def sent(cls, form: MultiDict[str, str], file: str) -> Plan:
        """The mapping in a page's form, or Invalid."""
        plan = cls(
            file[:200],
            form.get("format") or transfer.format_of(file),
            envelope=form.get("envelope") == "yes",
            columns=tuple(form.getlist("column")) if form.get("chosen") else None,
            delimiter=form.get("delimiter") or None,
            quotes=validation.one_of(form.get("quotes") or "auto", transfer.QUOTES, "quotes"),
            **{role: form.get(role) or None for role in ROLES},
        )
        if plan.delimiter is not None:
            validation.one_of(plan.delimiter, tuple(transfer.DELIMITERS), "delimiter")
        plan.rows(io.BytesIO())  # refused at once where it doesn't go together
        return plan

    @classmethod
    def kept(cls, data: dict[str, Any]) -> Plan:
        columns = data.pop("columns")
        return cls(**data, columns=None if columns is None else tuple(columns))

    def to_keep(self) -> dict[str, Any]:
        return asdict(self)

    def rows(self, stream: BinaryIO) -> transfer.Rows:
        if self.envelope:
            return transfer.read(stream, self.format, envelope=True)
        mark = transfer.DELIMITERS[self.delimiter] if self.table and self.delimiter else None
        quotes = self.quotes if self.table else "auto"
        return transfer.read(stream, self.format, picked=self._picked(), delimiter=mark, quotes=quotes)

    @property
    def table(self) -> bool:
        return self.format in ("csv", "tsv")

    @property
    def looks(self) -> str:
        """The settings that the columns' names depend on: after a change, the chosen columns are void."""
        return f"{self.format} {self.delimiter if self.table else None}"

    def named(self) -> set[str]:
        """The columns that it uses."""
        picked = self._picked()
        return set(picked.needs()) if picked else set()

    def _picked(self) -> Picked | None:
        picked = Picked(self.columns, self.id, self.priority, self.due, self.requires)
        return picked if picked != Picked() else None


@dataclass(frozen=True, slots=True)
class Look:
    """The preview of the first rows of a file, with the errors under a mapping."""

    plan: Plan
    columns: tuple[str, ...]
    rows: tuple[Json, ...]
    findings: tuple[tuple[int, str], ...]  # line and what is wrong
    tables: bool  # whether its rows can only be payloads
    summary: TableSummary | None  # how quotes and lines were read so far; None: of JSON
    whole: bool  # whether that was the whole file


def look_at(piece: bytes, whole: bool, sent: MultiDict[str, str], file: str) -> Look:
    """Preview the first piece of a file. Without a choice of columns, their names suggest one."""
    plan, looked = Plan.sent(sent, file), sent.get("looked", "")
    if looked.partition(" ")[0] not in ("", plan.format):
        plan = replace(plan, delimiter=None)  # it was another format's
    data = piece if whole else _cut(piece, plan.format)
    splits = _splits(plan, data)
    if len(splits) == 1 and plan.table:
        plan = replace(plan, delimiter=splits[0])
    plain = Plan(plan.file, plan.format, delimiter=plan.delimiter, quotes=plan.quotes)
    rows = [row.payload for row in _first(plain.rows(io.BytesIO(data)), whole) if isinstance(row, NewItem)]
    columns = tuple(dict.fromkeys(name for row in rows if isinstance(row, dict) for name in row))
    if looked != plan.looks or not plan.named() <= set(columns):
        plan = _guessed(plain, columns, rows, plan.table)
    read = plan.rows(io.BytesIO(data))
    bad = [row for row in _first(read, whole) if isinstance(row, BadRow)]
    findings = [(row.line, bad_row_message(row) + _hint(row, data)) for row in bad[:FINDINGS_SHOWN]]
    if len(splits) > 1:
        findings = [(1, str(_("The first line can be split in more than one way. Choose the separator.")))]
    return Look(plan, columns, tuple(rows[:ROWS_SHOWN]), tuple(findings), plan.table, read.summary, whole)


def _splits(plan: Plan, data: bytes) -> tuple[str, ...]:
    """What may split the columns, by name: what was chosen, else what the header has."""
    if plan.delimiter or not plan.table:
        return (plan.delimiter,) if plan.delimiter else ()
    names = {mark: name for name, mark in transfer.DELIMITERS.items()}
    return tuple(names[mark] for mark in transfer.splits(io.BytesIO(data), plan.format, plan.quotes))


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
    utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    if "UTF-16" in row.message or ("UTF-8" not in row.message and not utf16):
        return ""
    return " " + str(_("Save the file as UTF-8 (in a spreadsheet: “CSV UTF-8”) and choose it again."))
