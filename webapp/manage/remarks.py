"""Messages about an import: what is wrong with a row, and how quotes and line breaks were read."""

from __future__ import annotations

from dataclasses import replace

from flask_babel import format_decimal, ngettext
from flask_babel import gettext as _

from leaseq.transfer import BadRow, TableSummary


def bad_row_message(row: BadRow) -> str:
    """What is wrong with a row, and which choice on the page helps."""
    if row.id is not None:
        return replace(row, fault=_conflict(row.id)).message
    if row.remedy is None:
        return row.message
    fault = replace(row, remedy=None).message
    if row.remedy == "encoding":
        return f"{fault}. " + str(_("Choose the encoding."))
    if row.remedy == "quotes":
        return f"{fault}. " + str(_("Choose “Text” for double quotes."))
    if row.remedy == "header":
        return f"{fault}. " + str(_("Choose the line of the header, or “There is none”."))
    if row.remedy == "cells":
        return f"{fault}. " + str(_("Choose “Text” for the cells of this column."))
    return f"{fault}. " + str(_("Choose the column separator."))


def _conflict(id: str) -> str:
    return str(
        _(
            "The id “%(id)s” belongs to an item with other content, and nothing was changed. Give the row"
            " another id, or remove that item first.",
            id=id,
        )
    )


def remarks(summary: TableSummary | None, *, whole: bool = True) -> list[str]:
    """How quotes and line breaks were read, if the file could also be read differently. ``whole``: the file
    was read to its end."""
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
