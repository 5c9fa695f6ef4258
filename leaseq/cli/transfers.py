"""``leaseq import`` and ``leaseq export``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from leaseq import transfer
from leaseq.cli.common import connected, emit_json, existing_queue, json_option
from leaseq.cli.progress import reading_bar, writing_bar

if TYPE_CHECKING:
    from leaseq import Answer, Client, Queue

format_option = click.option(
    "--format",
    "format_name",
    type=click.Choice(transfer.FORMATS),
    help="The format, if the file's name does not tell it.",
)


class _ImportFile(click.Path):
    """A file in one of the formats: one that people bring but can't be read is refused with what to do."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if (what := transfer.foreign(str(value))) is not None:
            self.fail(f"{str(value)!r} is {what}", param, ctx)
        return super().convert(value, param, ctx)


@click.command("import", epilog="Example: leaseq import reviews reviews.csv --id-field id")
@click.argument("name", metavar="QUEUE")
@click.argument("file", metavar="FILE", type=_ImportFile(exists=True, dir_okay=False, allow_dash=True))
@format_option
@click.option(
    "--delimiter",
    type=click.Choice(list(transfer.DELIMITERS)),
    help="The column separator of CSV and TSV, if the header does not tell it.",
)
@click.option(
    "--quotes",
    type=click.Choice(transfer.QUOTES),
    default="auto",
    show_default=True,
    help="How to read double quotes in CSV and TSV: as enclosing a field (double), or as text (none).",
)
@click.option("--id-field", metavar="NAME", help="Take each item's id from this field of its row.")
@click.option("--priority-field", metavar="NAME", help="Take each item's priority from this field.")
@click.option("--due-field", metavar="NAME", help="Take the time by which an item is due from this field.")
@click.option(
    "--requires-field", metavar="NAME", help="Take the skills, split by spaces or commas, from this field."
)
@click.option(
    "--payload-field",
    multiple=True,
    metavar="NAME",
    help="A field of the payload; may be repeated. [default: all fields]",
)
@click.option("--envelope", is_flag=True, help="A row is a new item: {payload, id?, priority?, ...}.")
@json_option
@connected
def import_command(
    client: Client,
    /,
    name: str,
    file: str,
    *,
    format_name: str | None,
    delimiter: str | None,
    quotes: transfer.Quotes,
    envelope: bool,
    as_json: bool,
    **columns: Any,
) -> None:
    """Import FILE ('-' reads standard input): each row becomes an item.

    CSV and TSV begin with a row that names the columns; in CSV that row tells whether commas, semicolons or
    tabs separate them. JSON is one array; JSONL has one row per line. A bad row is reported with its line
    number and skipped; the other rows are imported, and the exit code is 1.

    Quotes enclose fields in CSV. In TSV they do if each field that begins with a quote closes it before the
    next tab or line end; otherwise all quotes of the file are text. A note says which it was.
    """
    format = _format(file, format_name)
    queue = existing_queue(client, name)
    mapping = _mapping(envelope, **columns)
    with _opened(file) as stream:
        rows = transfer.read(
            stream,
            format,
            mapping=mapping if mapping.needs() else None,
            envelope=envelope,
            delimiter=transfer.DELIMITERS[delimiter] if delimiter else None,
            quotes=quotes,
        )
        result = _import(queue, rows, stream)
    if as_json:
        emit_json(asdict(result))
    else:
        click.echo(_sum(result))
    if result.rejected:
        raise click.exceptions.Exit(1)


def _mapping(envelope: bool, payload_field: tuple[str, ...], **of_item: str | None) -> transfer.ColumnMapping:
    parts: dict[str, Any] = {option.removesuffix("_field"): column for option, column in of_item.items()}
    mapping = transfer.ColumnMapping(payload_field or None, **parts)
    if envelope and mapping.needs():
        raise click.UsageError("--envelope is used without fields such as --id-field: its items have these.")
    return mapping


def _import(queue: Queue, rows: transfer.Rows, stream: BinaryIO) -> transfer.ImportResult:
    so_far = transfer.ImportResult()
    with reading_bar(stream) as (echo, show):

        def progress(result: transfer.ImportResult) -> None:
            nonlocal so_far
            so_far = result
            show(result.rows)

        try:
            return transfer.import_items(
                queue, rows, on_bad=lambda row: echo(f"line {row.line:,}: {row.message}"), progress=progress
            )
        except BaseException:
            if so_far.rows:
                echo(f"leaseq: before it stopped: {_sum(so_far)}")
            raise
        finally:
            for remark in _remarks(rows.summary):
                echo(remark)


def _remarks(summary: transfer.TableSummary | None) -> Iterator[str]:
    """How the quotes and lines of a table were read, where it could have been otherwise."""
    if summary is None:
        return
    if summary.unquoted:
        fields = _count(summary.unquoted, "field was", "fields were")
        yield f"{fields} unquoted: --quotes none keeps the quotes"
    if summary.open_quote_line:
        yield (
            f"line {summary.open_quote_line:,}: a field begins with a quote and does not end with one, so "
            f"all "
            "quotes of the file were read as text: --quotes double reads them as enclosing fields"
        )
    if summary.joined_first:
        first, last = summary.joined_first
        rows = _count(summary.joined_rows, "row spans", "rows span")
        yield (
            f"{rows} {summary.joined_lines:,} lines because of quoted line breaks (first: lines "
            f"{first:,} to {last:,}): --quotes none reads each line as a row"
        )
    if summary.blank_lines:
        yield f"{_count(summary.blank_lines, 'blank line was', 'blank lines were')} skipped"


def _count(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"


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
@connected
def export_command(
    client: Client,
    name: str,
    file: str,
    format_name: str | None,
    since: str | None,
    until: str | None,
    person: str | None,
    late: bool | None,
    with_late: bool,
) -> None:
    """Write a queue's answers, in the order in which they were finished, to FILE or standard output ('-').

    FILE appears when it is complete. On standard output the default format is one line of JSON per
    answer. A TIME is a UTC day (2026-11-21) or has its zone (2026-11-21T10:05:00Z).
    """
    format = "jsonl" if file == "-" and format_name is None else _format(file, format_name)
    queue = existing_queue(client, name)
    answers = queue.answers(
        with_late=with_late,
        person=person,
        since=transfer.time_of(since, "from") if since else None,
        until=transfer.time_of(until, "to", last=True) if until else None,
        late=late,
    )
    with _made(file) as stream, writing_bar(file, queue.stats().finished) as show:
        written = 0

        def counted() -> Iterator[Answer]:
            nonlocal written
            for answer in answers:
                yield answer
                written += 1
                if written % 500 == 0:
                    show(written)

        transfer.write(counted(), stream, format)
        stream.flush()
    if file != "-":
        click.echo(f"{written:,} answers written to {file}", err=True)


def _format(file: str, given: str | None) -> str:
    if given:
        return given
    if file == "-":
        raise click.UsageError(
            "standard input and output have no file name that tells the format: add --format."
        )
    return transfer.format_of(file)


def _opened(file: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb")


def _made(file: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdout.buffer) if file == "-" else transfer.whole_file(Path(file))


def _sum(result: transfer.ImportResult) -> str:
    return f"{result.added:,} added, {result.duplicates:,} duplicates, {result.rejected:,} rejected"
