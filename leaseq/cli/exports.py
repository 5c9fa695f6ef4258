"""``leaseq export``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from leaseq import transfer
from leaseq.cli.common import CommandMisused, connected, count, existing_queue
from leaseq.cli.transfers import format_of, format_option, open_output, writing_bar
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
    queue = existing_queue(client, name)
    options: dict[str, Any] = {"format": format, "raw_cells": raw_cells, "bom": bom}
    if state:
        encode = partial(transfer.encode_items, max_attempts=queue.policy.max_attempts, **options)
        items = queue._walk(state, _PAGE)  # noqa: SLF001 - of the library itself
        _write(items, encode, file, getattr(queue.stats(), state), ("item", "items"))
        return
    encode_answers = partial(transfer.encode, form=queue.policy.form, **options)
    write = partial(
        _write, encode=encode_answers, file=file, total=queue.stats().finished, noun=("answer", "answers")
    )
    if incremental:
        _write_new(queue, after, cursor_file, write)
    else:
        write(_answers(queue, **filters))


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


def _write(
    rows: Iterable[T],
    encode: Callable[[Iterable[T]], Iterable[bytes]],
    file: str,
    total: int,
    noun: tuple[str, str],
) -> None:
    """Write rows to a file or standard output, and report their number, in the singular or the plural."""
    number = 0
    with open_output(file) as stream, writing_bar(file, total, noun[1]) as show:

        def counted() -> Iterator[T]:
            nonlocal number
            for number, row in enumerate(rows, 1):
                if number % _PAGE == 0:
                    show(number)
                yield row

        for piece in encode(counted()):
            stream.write(piece)
    if file != "-":
        click.echo(f"{count(number, *noun)} written to {file}", err=True)


def _answers_since(queue: Queue, after: str | None, file: Path | None) -> transfer.AnswersSince:
    if after is not None:
        return transfer.AnswersSince(queue, after)
    if file is None or not file.exists():
        return transfer.AnswersSince(queue)
    try:
        return transfer.AnswersSince(queue, file.read_text("ascii", errors="replace").strip())
    except Invalid as error:
        raise CommandMisused(f"{file}: {error}") from None


def _write_new(
    queue: Queue, after: str | None, cursor_file: Path | None, write: Callable[[Iterable[Answer]], None]
) -> None:
    """Write the answers since the cursor. The next cursor is output after they are written, so that an
    interrupted run can be repeated and leaves nothing out."""
    answers = _answers_since(queue, after, cursor_file)
    if cursor_file is None:
        write(answers)
        click.echo(f"next cursor: {answers.cursor}", err=True)
        return
    with transfer.whole_file(cursor_file) as stream:  # opened first: if that fails, nothing is exported
        write(answers)
        stream.write(f"{answers.cursor}\n".encode())
