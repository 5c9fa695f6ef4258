"""``leaseq export``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from leaseq import transfer
from leaseq.cli.common import CommandMisused, connected, count, existing_queue
from leaseq.cli.transfers import Show, format_of, format_option, open_output, writing_bar
from leaseq.errors import Invalid
from leaseq.models import STATES, State

if TYPE_CHECKING:
    from leaseq import Answer, Client, Queue

T = TypeVar("T")
_PAGE = 500


@click.command("export", epilog="Example: leaseq export reviews answers.csv")
@click.argument("name", metavar="QUEUE")
@click.argument("file", default="-", metavar="[FILE]", type=click.Path(dir_okay=False, allow_dash=True))
@format_option
@click.option("--from", "since", metavar="TIME", help="Only answers finished from this day or time on.")
@click.option(
    "--to", "until", metavar="TIME", help="Only answers finished up to this day, or before this time."
)
@click.option("--person", metavar="NAME", help="Only this person's answers.")
@click.option("--late/--in-time", default=None, help="Only late answers, or only answers in time.")
@click.option("--with-late", is_flag=True, help="Add the late answers that were kept, but not accepted.")
@click.option(
    "--after",
    metavar="CURSOR",
    help="Only answers since the export of this queue that printed this cursor; 0: from the beginning.",
)
@click.option(
    "--cursor-file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Continue after the cursor in this file, if the file exists, and write the next cursor to it.",
)
@click.option("--items", "state", type=click.Choice(STATES), help="Items in this state instead of answers.")
@click.option(
    "--raw-cells",
    is_flag=True,
    help="In CSV and TSV, no apostrophe before cells that a spreadsheet would run as formulas.",
)
@click.option(
    "--bom", is_flag=True, help="Begin CSV or TSV with a byte order mark, so that Excel reads it as UTF-8."
)
@connected
def export_command(
    client: Client,
    /,
    name: str,
    file: str,
    *,
    format_name: transfer.Format | None,
    after: str | None,
    cursor_file: Path | None,
    state: State | None,
    raw_cells: bool,
    bom: bool,
    **filters: Any,
) -> None:
    """Write a queue's answers, in the order in which they were finished, to FILE or standard output ('-').

    FILE appears when it is complete, gzipped if its name ends with .gz. On standard output the default format
    is one line of JSON per answer. A TIME is a UTC day (2026-11-21) or a time with its zone
    (2026-11-21T10:05:00Z).
    """
    name_without_gz = transfer.without_gz(file)
    if format_name is None and transfer.foreign(name_without_gz) is not None:
        raise CommandMisused(
            f"{file!r}: an export is written as CSV, TSV, JSON, JSONL or xlsx: name a file that ends with "
            ".xlsx, which spreadsheets open, or with .csv, .tsv, .json or .jsonl"
        )
    format = "jsonl" if file == "-" and format_name is None else format_of(file, format_name)
    incremental = after is not None or cursor_file is not None
    _check(filters, incremental, state)
    table_options = {"raw_cells": raw_cells, "bom": bom}
    queue = existing_queue(client, name)
    if state:
        _export_items(queue, state, file, format, table_options)
    elif incremental:
        _export_new(queue, after, cursor_file, file, format, table_options)
    else:
        _export_answers(queue, _answers(queue, **filters), file, format, table_options)


_FILTERS = {
    "since": "--from",
    "until": "--to",
    "person": "--person",
    "late": "--late/--in-time",
    "with_late": "--with-late",
}


def _check(filters: dict[str, Any], incremental: bool, state: State | None) -> None:
    """Refuse options that can't be combined."""
    if state and incremental:
        raise click.UsageError(
            "--items can't be combined with --after or --cursor-file: cursors are for answers."
        )
    given_options = [_FILTERS[name] for name, value in filters.items() if value not in (None, False)]
    if filters["late"] is False:
        given_options.append(_FILTERS["late"])
    if given_options and (state or incremental):
        other = "--items" if state else "--after or --cursor-file"
        raise click.UsageError(f"{given_options[0]} can't be combined with {other}.")


def _answers(
    queue: Queue, since: str | None, until: str | None, person: str | None, late: bool | None, with_late: bool
) -> Iterator[Answer]:
    begin, end = transfer.period_of(since or None, until or None)
    return queue.answers(with_late=with_late, person=person, since=begin, until=end, late=late)


def _export_answers(
    queue: Queue, answers: Iterable[Answer], file: str, format: str, table_options: dict[str, bool]
) -> None:
    with open_output(file) as stream, writing_bar(file, queue.stats().finished, "answers") as show:
        rows = _RowCounter(answers, show)
        transfer.write(rows, stream, format, form=queue.policy.form, **table_options)
    _report(file, rows.count, "answer", "answers")


def _answers_since(queue: Queue, after: str | None, file: Path | None) -> transfer.AnswersSince:
    if after is not None:
        return transfer.AnswersSince(queue, after)
    if file is None or not file.exists():
        return transfer.AnswersSince(queue)
    try:
        return transfer.AnswersSince(queue, file.read_text("ascii", errors="replace").strip())
    except Invalid as error:
        raise CommandMisused(f"{file}: {error}") from None


def _export_new(
    queue: Queue,
    after: str | None,
    cursor_file: Path | None,
    file: str,
    format: str,
    table_options: dict[str, bool],
) -> None:
    """Export the answers since the cursor. The next cursor is output after they are written, so that an
    interrupted run can be repeated and leaves nothing out."""
    answers = _answers_since(queue, after, cursor_file)
    if cursor_file is None:
        _export_answers(queue, answers, file, format, table_options)
        click.echo(f"next cursor: {answers.cursor}", err=True)
        return
    with transfer.whole_file(cursor_file) as stream:  # opened first: if that fails, nothing is exported
        _export_answers(queue, answers, file, format, table_options)
        stream.write(f"{answers.cursor}\n".encode())


def _export_items(queue: Queue, state: State, file: str, format: str, table_options: dict[str, bool]) -> None:
    total, max_attempts = getattr(queue.stats(), state), queue.policy.max_attempts
    with open_output(file) as stream, writing_bar(file, total, "items") as show:
        rows = _RowCounter(queue._walk(state, _PAGE), show)  # noqa: SLF001 - of the library itself
        for piece in transfer.encode_items(rows, format, max_attempts=max_attempts, **table_options):
            stream.write(piece)
    _report(file, rows.count, "item", "items")


class _RowCounter(Iterator[T]):
    """An iterator over rows that counts them."""

    def __init__(self, rows: Iterable[T], show: Show) -> None:
        self._rows = iter(rows)
        self._show = show
        self.count = 0

    def __next__(self) -> T:
        row = next(self._rows)
        self.count += 1
        if self.count % _PAGE == 0:
            self._show(self.count)
        return row


def _report(file: str, number: int, singular: str, plural: str) -> None:
    if file != "-":
        click.echo(f"{count(number, singular, plural)} written to {file}", err=True)
