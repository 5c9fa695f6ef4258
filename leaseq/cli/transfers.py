"""Helpers for commands that read or write files: files and their formats."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO, cast

import click

from leaseq import transfer

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
