"""``leaseq import``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from leaseq import transfer
from leaseq.cli.common import addressee, connected, count, emit_json, existing_queue, json_option
from leaseq.cli.transfers import Echo, Show, format_of, format_option, open_input, open_output, reading_bar

if TYPE_CHECKING:
    from leaseq import Client, NewItem, Queue


class _ImportFile(click.Path):
    """A file in one of the formats. Common files in other formats are refused with advice on what to do."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if (refusal := transfer.foreign(transfer.without_gz(str(value)))) is not None:
            self.fail(str(refusal), param, ctx)
        return super().convert(value, param, ctx)


@click.command("import", epilog="Example: leaseq import reviews reviews.csv --id-field id")
@click.argument("name", metavar="QUEUE")
@click.argument("file", metavar="FILE", type=_ImportFile(exists=True, dir_okay=False, allow_dash=True))
@format_option
@click.option(
    "--encoding",
    metavar="NAME",
    help="The encoding, such as cp1252 or shift_jis. [default: UTF-8, or UTF-16 if the file shows it]",
)
@click.option(
    "--no-header", is_flag=True, help="A table without a header: its columns are column_1, column_2, …"
)
@click.option(
    "--header-line",
    type=click.IntRange(min=1),
    metavar="N",
    help="The line of a table's header, if a title is above it. [default: the first with text]",
)
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
    "--dates",
    type=click.Choice(transfer.DATES),
    help="How dates such as 3/4/2026 are read: with the day or the month first.",
)
@click.option(
    "--requires-field", metavar="NAME", help="Take the skills, split by spaces or commas, from this field."
)
@click.option("--form-field", metavar="NAME", help="Take the item's own form, as JSON, from this field.")
@click.option(
    "--expires-field",
    metavar="NAME",
    help="Take when nobody needs the answer any more from this field: seconds from now, or a time.",
)
@click.option("--to-field", metavar="NAME", help="Take the only person who may reserve it from this field.")
@click.option(
    "--payload-field",
    multiple=True,
    metavar="NAME",
    help="A field of the payload; may be repeated. [default: all fields]",
)
@click.option(
    "--raw-cells",
    is_flag=True,
    help="Keep all cells of a table as text. [default: a column has values, such as 5 or true, if all "
    "its cells are values]",
)
@click.option(
    "--text-field", multiple=True, metavar="NAME", help="A column to keep as text; may be repeated."
)
@click.option(
    "--value-field",
    multiple=True,
    metavar="NAME",
    help="A column of numbers, true and false, or JSON; other cells are errors; may be repeated.",
)
@click.option("--envelope", is_flag=True, help="Each row is a new item: {payload, id?, priority?, ...}.")
@click.option("--dry-run", is_flag=True, help="Read the whole file and report its bad rows; import nothing.")
@click.option(
    "--rejects",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write the bad rows and the conflicts, each with its line and the reason, to this file: correct and "
    "import it.",
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
    dry_run: bool,
    rejects: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Import FILE ('-' reads standard input): each row becomes an item.

    CSV and TSV begin with a row that names the columns; in CSV that row shows whether commas, semicolons or
    tabs separate them. JSON is one array; JSONL has one row per line. A bad row is reported with its line
    number and skipped; the other rows are imported, and the exit code is 1. A row whose id belongs to an item
    with other content is a conflict, and is reported in the same way. A gzipped file is unpacked. Of an xlsx
    workbook, the first sheet is imported.

    Quotes enclose fields in CSV. In TSV they do if each field that begins with a quote closes it before the
    next tab or line end; otherwise all quotes of the file are text. A note says how they were read.
    """
    format = format_of(file, format_name)
    if options["no_header"] and options["header_line"]:
        raise click.UsageError(
            "--header-line names the line of a header, and --no-header says there is none."
        )
    if rejects is not None and file != "-" and Path(rejects).resolve() == Path(file).resolve():
        raise click.UsageError("--rejects names the file that is imported: name another one.")
    queue = existing_queue(client, name)
    with ExitStack() as stack:
        stream = stack.enter_context(open_input(file))
        rows = _rows(stream, format, **options)
        reject_stream = stack.enter_context(open_output(rejects)) if rejects else None
        reject_writer = (
            transfer.Rejects(reject_stream, "csv" if format == "xlsx" else format) if reject_stream else None
        )
        addressed_rows = transfer.addressed(rows, partial(addressee, client, name))
        result = _import(None if dry_run else queue, rows, addressed_rows, stream, reject_writer)
        if reject_writer:
            reject_writer.close()
    if reject_writer and reject_writer.count:
        rows_written = count(reject_writer.count, "rejected row was", "rejected rows were")
        click.echo(f"leaseq: {rows_written} written to {rejects}: correct and import that file", err=True)
    _report(result, as_json)
    if result.rejected or (isinstance(result, transfer.ImportResult) and result.conflicts):
        raise click.exceptions.Exit(1)


def _rows(
    stream: BinaryIO,
    format: transfer.Format,
    *,
    encoding: str | None,
    delimiter: str | None,
    quotes: transfer.Quotes,
    no_header: bool,
    header_line: int | None,
    envelope: bool,
    **columns: Any,
) -> transfer.Rows:
    cells = transfer.CellChoice(
        columns.pop("text_field"), columns.pop("value_field"), columns.pop("raw_cells")
    )
    payload_fields, dates = columns.pop("payload_field"), columns.pop("dates")
    parts = {option.removesuffix("_field"): column for option, column in columns.items()}
    mapping = transfer.ColumnMapping(payload_fields or None, **parts, dates=dates)
    if envelope and mapping.needs():
        raise click.UsageError("--envelope is used without options such as --id-field: its rows have these.")
    return transfer.read(
        transfer.unpacked(stream),
        format,
        mapping=mapping if mapping.needs() else None,
        envelope=envelope,
        delimiter=transfer.DELIMITERS[delimiter] if delimiter else None,
        quotes=quotes,
        encoding=encoding,
        header_line=0 if no_header else header_line,
        cells=cells,
    )


Result = transfer.ImportResult | transfer.CheckResult


def _import(
    queue: Queue | None,
    rows: transfer.Rows,
    addressed_rows: Iterable[NewItem | transfer.BadRow],
    stream: BinaryIO,
    rejects: transfer.Rejects | None,
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
                    addressed_rows,
                    on_bad=report_bad_row,
                    progress=lambda result: show(result.readable + result.bad),
                )
            return _enqueue(queue, addressed_rows, report_bad_row, echo, show)
        finally:
            for remark in _remarks(rows.summary):
                echo(remark)


def _enqueue(
    queue: Queue,
    rows: Iterable[NewItem | transfer.BadRow],
    on_bad: Callable[[transfer.BadRow], None],
    echo: Echo,
    show: Show,
) -> transfer.ImportResult:
    last_result = transfer.ImportResult()

    def progress(result: transfer.ImportResult) -> None:
        nonlocal last_result
        last_result = result
        show(result.rows)

    try:
        return transfer.import_items(queue, rows, on_bad=on_bad, on_conflict=on_bad, progress=progress)
    except BaseException:
        if last_result.rows:
            echo(f"leaseq: before it stopped: {_summary(last_result)}")
        raise


def _remarks(summary: transfer.TableSummary | None) -> Iterator[str]:
    """Yield notes on how the quotes and lines of a table were read, if they were ambiguous."""
    if summary is None:
        return
    if summary.sheet is not None and summary.sheets > 1:
        yield f"sheet 1 of {summary.sheets:,} is read: {summary.sheet}"
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
    if summary.empty_lines:
        yield f"{count(summary.empty_lines, 'empty line was', 'empty lines were')} skipped"
    if summary.values:
        yield f"read as values, not as text: {', '.join(summary.values)} (--raw-cells keeps the text)"


def _report(result: Result, as_json: bool) -> None:
    if isinstance(result, transfer.ImportResult):
        shape = asdict(result)
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
    conflicts = f", {count(result.conflicts, 'conflict', 'conflicts')}" if result.conflicts else ""
    return f"{result.added:,} added, {duplicates}{conflicts}, {result.rejected:,} rejected"
