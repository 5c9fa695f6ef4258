"""The reading of a file: the mapping of its columns to the parts of items, and remarks on its rows."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, BinaryIO, TypeVar

from flask_babel import format_decimal, ngettext
from flask_babel import gettext as _
from werkzeug.datastructures import MultiDict

from leaseq import transfer, validation
from leaseq.transfer import BadRow, ColumnMapping, NewItem, Remedy, TableSummary
from leaseq.webapp.refusals import fault_in_words
from leaseq.webapp.serving.bodies import whole_number
from leaseq.webapp.site_time import site_zone
from leaseq.webapp.store.queue_access import lacking_skills

ROLES = ("id", "priority", "due", "requires", "expires", "to", "form")
ENCODINGS = {  # on offer, with the languages for which they are used
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": "Windows-1252",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "mac_roman": "Mac Roman",
    "shift_jis": "Shift JIS",
    "gb18030": "GB 18030",
    "big5": "Big5",
    "euc_kr": "EUC-KR",
}
_Choice = TypeVar("_Choice", bound=str)
LAST_HEADER_LINE = 10  # on offer
_MAX_SKILL_SETS = 1_000  # of the rows of a file; a queue takes fewer


@dataclass(frozen=True, slots=True)
class ImportMapping:
    """The way in which a file is read, and its columns become parts of an item."""

    file: str
    format: str
    envelope: bool = False
    columns: tuple[str, ...] | None = None  # columns of the payload; None: all
    id: str | None = None
    priority: str | None = None
    due: str | None = None
    requires: str | None = None
    expires: str | None = None
    to: str | None = None
    form: str | None = None
    delimiter: str | None = None  # by name; None: detected from the header
    quotes: transfer.Quotes = "auto"
    encoding: str | None = None  # None: detected
    header_line: int | None = None  # None: detected; 0: there is none
    dates: transfer.Dates | None = None  # the order of day and month in dates
    text: tuple[str, ...] = ()  # columns whose cells are text
    value: tuple[str, ...] = ()  # columns whose cells are values
    raw: bool = False  # whether the cells of all other columns are text
    words: tuple[tuple[str, int], ...] = ()  # for the priority, in lower case, each with its number

    @classmethod
    def from_form(cls, form: MultiDict[str, str], file: str) -> ImportMapping:
        """The mapping in a page's form. Raises Invalid."""
        cells = [entry.partition(" ")[::2] for entry in form.getlist("cells")]
        mapping = cls(
            file[:200],
            form.get("format") or transfer.format_of(file),
            envelope=form.get("envelope") == "yes",
            columns=tuple(form.getlist("column")) if form.get("columns_chosen") else None,
            delimiter=_choice(form, "delimiter", tuple(transfer.DELIMITERS)),
            quotes=_choice(form, "quotes", transfer.QUOTES) or "auto",
            **{role: form.get(role) or None for role in ROLES},
            encoding=_choice(form, "encoding", tuple(ENCODINGS)),
            header_line=whole_number(form.get("header_line") or form.get("title_header_line")),
            dates=_choice(form, "dates", transfer.DATES),
            text=tuple(name for kind, name in cells if kind == "text"),
            value=tuple(name for kind, name in cells if kind == "value"),
            raw=form.get("raw_cells") == "yes",
            words=words_of(
                (name.removeprefix(WORD_PREFIX), text)
                for name, text in form.items()
                if name.startswith(WORD_PREFIX)
            ),
        )
        mapping.rows(io.BytesIO())  # raises Invalid now if the settings don't fit together
        return mapping

    @classmethod
    def from_record(cls, data: Mapping[str, Any]) -> ImportMapping:
        lists = {
            name: None if data[name] is None else tuple(data[name]) for name in ("columns", "text", "value")
        }
        words = tuple((str(word), int(number)) for word, number in data.get("words", ()))
        return cls(**{**data, **lists, "words": words})

    def to_record(self) -> dict[str, Any]:
        return asdict(self)

    def rows(self, stream: BinaryIO | transfer.SheetRows) -> transfer.Rows:
        if self.envelope:
            return transfer.read(stream, self.format, envelope=True, encoding=self.encoding)
        mark = transfer.DELIMITERS[self.delimiter] if self.text_table and self.delimiter else None
        quotes = self.quotes if self.text_table else "auto"
        return transfer.read(
            stream,
            self.format,
            mapping=self._columns(),
            delimiter=mark,
            quotes=quotes,
            encoding=self.encoding,
            header_line=self.header_line,
            cells=transfer.CellChoice(self.text, self.value, self.raw),
        )

    @property
    def table(self) -> bool:
        return self.format in transfer.TABLES

    @property
    def text_table(self) -> bool:
        return self.format in transfer.TEXT_TABLES

    @property
    def layout(self) -> str:
        """The settings that the column names depend on: after a change, the chosen columns are void."""
        if not self.table:
            return f"{self.format} None"
        return f"{self.format} {self.delimiter} {self.header_line}"

    def used_columns(self) -> set[str]:
        """The columns that the mapping uses."""
        mapping = self._columns()
        return set(mapping.needs()) if mapping else set()

    def role_columns(self) -> set[str]:
        """The columns that become a part of the item beside its payload."""
        return {name for role in ROLES if (name := getattr(self, role)) is not None}

    def _columns(self) -> ColumnMapping | None:
        roles = {role: getattr(self, role) for role in ROLES}
        if self.columns is None and not any(roles.values()):
            return None
        return ColumnMapping(
            self.columns, **roles, zone=site_zone(), dates=self.dates, words=dict(self.words)
        )

    def without_choices(self) -> ImportMapping:
        """The way in which the file is read, without any choice of columns."""
        nothing: dict[str, Any] = dict.fromkeys(("columns", *ROLES, "dates"))
        return replace(self, envelope=False, text=(), value=(), raw=False, words=(), **nothing)


def _choice(form: MultiDict[str, str], name: str, choices: Sequence[_Choice]) -> _Choice | None:
    return validation.one_of(form[name], choices, name) if form.get(name) else None


WORD_PREFIX = "word."  # of the inputs with the number of a word for the priority


def words_of(texts: Iterable[tuple[str, str]]) -> tuple[tuple[str, int], ...]:
    """The words for the priority whose text is a whole number."""
    numbers = ((word.casefold(), whole_number(text.strip())) for word, text in texts)
    return tuple((word, number) for word, number in numbers if number is not None)


def noted_skills(
    rows: Iterable[NewItem | BadRow], requires: set[frozenset[str]]
) -> Iterator[NewItem | BadRow]:
    """The rows; the skills that each needs are added to ``requires``."""
    for row in rows:
        if isinstance(row, NewItem) and row.requires and len(requires) < _MAX_SKILL_SETS:
            requires.add(frozenset(row.requires))
        yield row


_SKILLS_NAMED = 10


def bad_row_message(row: BadRow) -> str:
    """The problem of a row, the lines that are left out with it, and the choice on the page that helps."""
    text = fault_in_words(row) if row.id is None else _conflict(row.id)
    if row.left_out:
        first, last = map(format_decimal, row.left_out)
        text += " " + _("(lines %(first)s to %(last)s are left out)", first=first, last=last)
    return f"{text}. {_advice(row.remedy)}" if row.remedy else text


def _advice(remedy: Remedy) -> str:
    texts: dict[Remedy, str] = {
        "encoding": _("Choose the encoding."),
        "quotes": _("Choose “Text” for double quotes."),
        "header": _("Choose the line of the header, or “None: the first row is data”."),
        "cells": _("Choose “Text” for the cells of this column."),
        "delimiter": _("Choose the column separator."),
    }
    return texts[remedy]


def _conflict(id: str) -> str:
    return str(
        _(
            "The id “%(id)s” belongs to an item with other content, and nothing was changed. Give the row"
            " another id, or remove that item first.",
            id=id,
        )
    )


def skills_remark(requires: Collection[frozenset[str]], skill_sets: Collection[frozenset[str]]) -> list[str]:
    """That nobody has skills which rows need, if so. ``requires``: the skills of each row, once."""
    names = sorted(
        {" + ".join(sorted(lacking_skills(requirement, skill_sets))) for requirement in requires} - {""}
    )
    if not names:
        return []
    shown = ", ".join(names[:_SKILLS_NAMED]) + (" …" if len(names) > _SKILLS_NAMED else "")
    return [
        _(
            "Nobody who may work here has these skills, which rows need: %(names)s. Check the spelling."
            " Until somebody has them, nobody can take these items.",
            names=shown,
        )
    ]


def remarks(summary: TableSummary | None, *, whole: bool = True) -> list[str]:
    """The way in which quotes and line breaks were read, if the file could also be read differently.
    ``whole``: the file was read to its end."""
    if summary is None:
        return []
    texts: list[str] = []
    if summary.sheet is not None and summary.sheets > 1:
        texts.append(
            _(
                "Sheet 1 of %(n)s is read: “%(name)s”. To import another, move it to the front and save the"
                " file.",
                n=format_decimal(summary.sheets),
                name=summary.sheet,
            )
        )
    if summary.unquoted:
        texts.append(_unquoted_remark(summary.unquoted, whole))
    if summary.open_quote_line:
        texts.append(
            _(
                "Line %(n)s: a field begins with a quote and does not end with one,"
                " so all quotes in the file are read as text.",
                n=format_decimal(summary.open_quote_line),
            )
        )
    if summary.joined_first:
        texts.append(
            _(
                "Rows that span several lines because of a quoted line break: %(n)s"
                " (first: lines %(first)s to %(last)s)."
                " If each line is a row, choose “Text” for double quotes.",
                n=format_decimal(summary.joined_rows),
                first=format_decimal(summary.joined_first[0]),
                last=format_decimal(summary.joined_first[1]),
            )
        )
    if summary.empty_lines:
        texts.append(_("Empty lines skipped: %(n)s.", n=format_decimal(summary.empty_lines)))
    return texts


def _unquoted_remark(number: int, is_whole: bool) -> str:
    n = format_decimal(number)
    text = str(
        ngettext(
            "Quotes were removed from %(n)s field. To keep them, choose “Text” for double quotes.",
            "Quotes were removed from %(n)s fields. To keep them, choose “Text” for double quotes.",
            number,
            n=n,
        )
    )
    if is_whole:
        return text
    return f"{text} " + str(_("They stay if a later field does not close its quote."))
