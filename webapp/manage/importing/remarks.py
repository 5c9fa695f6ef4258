"""Remarks on the rows of a file."""

from __future__ import annotations

from collections.abc import Collection

from flask_babel import format_decimal, ngettext
from flask_babel import gettext as _

from leaseq.transfer import BadRow, Remedy, TableSummary
from leaseq.webapp.refusals import fault_in_words
from leaseq.webapp.store.queue_access import lacking_skills

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
        "header": _("Choose the line of the header, or “There is none”."),
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
