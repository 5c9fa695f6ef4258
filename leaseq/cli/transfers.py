"""The parts that import and export share: files, formats, progress."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from leaseq import transfer

if TYPE_CHECKING:
    from rich.progress import Progress

    from leaseq import WorkerStats

Echo = Callable[[str], None]
Show = Callable[[int], None]


@contextmanager
def reading_bar(stream: BinaryIO) -> Iterator[tuple[Echo, Show]]:
    """Show how much of a file was read. Yields a function that prints above the bar, and one that advances
    it."""
    if not sys.stderr.isatty():
        yield lambda text: click.echo(text, err=True), lambda _: None
        return
    size = _size(stream)
    with _progress("{task.fields[rows]:,} rows") as progress:
        task = progress.add_task("", total=size, rows=0)

        def show(rows: int) -> None:
            progress.update(task, rows=rows, completed=stream.tell() if size is not None else 0)

        def echo(text: str) -> None:
            progress.console.print(text, markup=False, highlight=False, soft_wrap=True)

        yield echo, show


@contextmanager
def writing_bar(file: str, total: int, noun: str) -> Iterator[Show]:
    """Show how many ``noun`` were written; ``total`` is their number at the beginning."""
    if not sys.stderr.isatty() or (file == "-" and sys.stdout.isatty()):
        yield lambda _: None
        return
    with _progress(f"{{task.completed:,.0f}} {noun}") as progress:
        task = progress.add_task("", total=total)
        yield lambda number: progress.update(task, completed=number)


def _progress(text: str) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(text), BarColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


@contextmanager
def working_line(read_stats: Callable[[], WorkerStats]) -> Iterator[None]:
    """Show in one line how many items were finished and failed, and the current rate."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    samples: deque[tuple[float, int]] = deque(maxlen=20)  # samples of the last ten seconds

    def line() -> Text:
        stats = read_stats()
        samples.append((time.monotonic(), stats.finished + stats.failed))
        (first_time, first_count), (last_time, last_count) = samples[0], samples[-1]
        pace = (last_count - first_count) / (last_time - first_time) if last_time > first_time else 0
        return Text(f"{stats.finished:,} finished, {stats.failed:,} failed, {pace:.1f} per second")

    with Live(get_renderable=line, console=Console(stderr=True), refresh_per_second=2, transient=True):
        yield


def _size(stream: BinaryIO) -> int | None:
    try:
        status = os.fstat(stream.fileno())
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


format_option = click.option(
    "--format",
    "format_name",
    type=click.Choice(transfer.FORMATS),
    help="The format, if the file's name does not show it.",
)


def format_of(file: str, format_name: transfer.Format | None) -> transfer.Format:
    """The format that was given, or that the file's name shows, with or without ``.gz`` at its end."""
    if format_name:
        return format_name
    if file == "-":
        raise click.UsageError(
            "standard input and output have no file name that shows the format: add --format."
        )
    return transfer.format_of(transfer.without_gz(file))


def open_input(file: str) -> AbstractContextManager[BinaryIO]:
    """Standard input, or a file to read."""
    return nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb")


@contextmanager
def open_output(file: str) -> Iterator[BinaryIO]:
    """Standard output, or a file that appears when it is complete, gzipped if its name ends with .gz."""
    if file == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with transfer.whole_file(Path(file)) as stream:
        if file == transfer.without_gz(file):
            yield stream
            return
        with transfer.gzipped(stream) as gzip_stream:
            yield cast("BinaryIO", gzip_stream)
