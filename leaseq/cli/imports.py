"""``leaseq import``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from leaseq import transfer
from leaseq.cli.common import connected, count, emit_json, existing_queue, json_option
from leaseq.cli.progress import Echo, Show, reading_bar
from leaseq.cli.transfers import format_of, format_option, open_input, open_output

if TYPE_CHECKING:
    from leaseq import Client, Queue


class _ImportFile(click.Path):
    """A file in one of the formats. Common files in other formats are refused with advice on what to do."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if (advice := transfer.foreign(transfer.without_gz(str(value)), transfer.WRITTEN)) is not None:
            self.fail(f"{str(value)!r} is {advice}", param, ctx)
        return super().convert(value, param, ctx)


@click.command("import", epilog="Example: leaseq import reviews reviews.csv --id-field id")
@click.argument("name", metavar="QUEUE")
@click.argument("file", metavar="FILE", type=_ImportFile(exists=True, dir_okay=False, allow_dash=True))
@format_option(transfer.WRITTEN)
@click.option("--encoding", metavar="NAME", help="The encoding, such as cp1252 or utf-16. [default: UTF-8]")
@click.option(
    "--delimiter",
    type=click.Choice(list(transfer.DELIMITERS)),
    help="The column separator of CSV and TSV, if the header does not show it.",
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
@click.option("--envelope", is_flag=True, help="Each row is a new item: {payload, id?, priority?, ...}.")
@click.option("--dry-run", is_flag=True, help="Read the whole file and report its bad rows; import nothing.")
@click.option(
    "--rejects",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write the bad rows, each with its line and the reason, to this file: correct and import it.",
)
@json_option
@connected
def import_command(
    client: Client,
    /,
    name: str,
    file: str,
    *,
    format_name: transfer.Format | None,
    encoding: str | None,
    delimiter: str | None,
    quotes: transfer.Quotes,
    dry_run: bool,
    rejects: str | None,
    as_json: bool,
    **columns: Any,
) -> None:
    """Import FILE ('-' reads standard input): each row becomes an item.

    CSV and TSV begin with a row that names the columns; in CSV that row shows whether commas, semicolons or
    tabs separate them. JSON is one array; JSONL has one row per line. A bad row is reported with its line
    number and skipped; the other rows are imported, and the exit code is 1. A gzipped file is unpacked. Of an
    xlsx workbook, the first sheet is imported.

    Quotes enclose fields in CSV. In TSV they do if each field that begins with a quote closes it before the
    next tab or line end; otherwise all quotes of the file are text. A note says how they were read.
    """
    format = format_of(file, format_name, transfer.WRITTEN)
    if rejects is not None and file != "-" and Path(rejects).resolve() == Path(file).resolve():
        raise click.UsageError("--rejects names the file that is imported: name another one.")
    queue = existing_queue(client, name)
    mapping = _mapping(**columns)
    with ExitStack() as stack:
        stream = stack.enter_context(open_input(file))
        rows = transfer.read(
            transfer.decoded(stream, encoding),
            format,
            mapping=mapping if mapping.needs() else None,
            envelope=columns["envelope"],
            delimiter=transfer.DELIMITERS[delimiter] if delimiter else None,
            quotes=quotes,
        )
        reject_stream = stack.enter_context(open_output(rejects)) if rejects else None
        reject_writer = (
            transfer.Rejects(reject_stream, "csv" if format == "xlsx" else format) if reject_stream else None
        )
        result = _import(None if dry_run else queue, rows, stream, reject_writer)
        if reject_writer:
            reject_writer.close()
    if reject_writer and reject_writer.count:
        rows_written = count(reject_writer.count, "rejected row was", "rejected rows were")
        click.echo(f"leaseq: {rows_written} written to {rejects}: correct and import that file", err=True)
    _report(result, as_json)
    if result.rejected:
        raise click.exceptions.Exit(1)


def _mapping(envelope: bool, payload_field: tuple[str, ...], **fields: str | None) -> transfer.ColumnMapping:
    parts: dict[str, Any] = {option.removesuffix("_field"): column for option, column in fields.items()}
    mapping = transfer.ColumnMapping(payload_field or None, **parts)
    if envelope and mapping.needs():
        raise click.UsageError("--envelope is used without options such as --id-field: its rows have these.")
    return mapping


Result = transfer.ImportResult | transfer.CheckResult


def _import(
    queue: Queue | None, rows: transfer.Rows, stream: BinaryIO, rejects: transfer.Rejects | None
) -> Result:
    """Import the rows, or only check them if there is no queue."""
    with reading_bar(stream) as (echo, show):

        def report_bad_row(row: transfer.BadRow) -> None:
            echo(f"line {row.line:,}: {row.message}")
            if rejects:
                rejects.add(row, rows.head)

        try:
            if queue is None:
                return transfer.check(
                    rows, on_bad=report_bad_row, progress=lambda result: show(result.readable + result.bad)
                )
            return _enqueue(queue, rows, report_bad_row, echo, show)
        finally:
            for remark in _remarks(rows.summary):
                echo(remark)


def _enqueue(
    queue: Queue, rows: transfer.Rows, on_bad: Callable[[transfer.BadRow], None], echo: Echo, show: Show
) -> transfer.ImportResult:
    last_result = transfer.ImportResult()

    def progress(result: transfer.ImportResult) -> None:
        nonlocal last_result
        last_result = result
        show(result.rows)

    try:
        return transfer.import_items(queue, rows, on_bad=on_bad, progress=progress)
    except BaseException:
        if last_result.rows:
            echo(f"leaseq: before it stopped: {_summary(last_result)}")
        raise


def _remarks(summary: transfer.TableSummary | None) -> Iterator[str]:
    """Yield notes on how the quotes and lines of a table were read, if they were ambiguous."""
    if summary is None:
        return
    if summary.unquoted:
        fields = count(summary.unquoted, "field was", "fields were")
        yield f"{fields} unquoted: --quotes none keeps the quotes"
    if summary.open_quote_line:
        yield (
            f"line {summary.open_quote_line:,}: a field begins with a quote and does not end with one, so "
            f"all "
            "quotes of the file were read as text: --quotes double reads them as enclosing fields"
        )
    if summary.joined_first:
        first, last = summary.joined_first
        rows = count(summary.joined_rows, "row spans", "rows span")
        yield (
            f"{rows} {summary.joined_lines:,} lines because of quoted line breaks (first: lines "
            f"{first:,} to {last:,}): --quotes none reads each line as a row"
        )
    if summary.blank_lines:
        yield f"{count(summary.blank_lines, 'blank line was', 'blank lines were')} skipped"


def _report(result: Result, as_json: bool) -> None:
    if isinstance(result, transfer.ImportResult):
        shape = {"added": result.added, "duplicates": result.duplicates, "rejected": result.rejected}
        text = _summary(result)
    else:
        shape = {"readable": result.readable, "rejected": result.rejected}
        text = f"{result.readable:,} can be imported, {result.rejected:,} rejected; nothing was imported"
    if as_json:
        emit_json(shape)
    else:
        click.echo(text)


def _summary(result: transfer.ImportResult) -> str:
    duplicates = count(result.duplicates, "duplicate", "duplicates")
    return f"{result.added:,} added, {duplicates}, {result.rejected:,} rejected"
