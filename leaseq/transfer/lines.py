"""Reads the physical lines of a byte stream, numbered, with a limit on their length."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from leaseq.checkpoints import checkpoint
from leaseq.errors import Invalid
from leaseq.validation import MAX_JSON_BYTES

# A payload at its limit may be written with each character as \uXXXX and with white space around it.
MAX_ROW_BYTES = 8 * MAX_JSON_BYTES
TOO_LONG = f"a row of at most {MAX_ROW_BYTES:,} bytes"

BOM = b"\xef\xbb\xbf"


def check_binary(stream: object, mode: str) -> None:
    """Refuse a stream of text."""
    if isinstance(stream, io.TextIOBase):
        raise Invalid("stream", f"a stream of bytes: open the file with {mode!r}")


@dataclass(frozen=True, slots=True)
class Line:
    number: int  # from 1
    data: bytes  # with its line end; empty if the line is too long
    quotes: int  # the number of double quotes in the whole line
    too_long: bool = False


def lines(stream: BinaryIO) -> Iterator[Line]:
    """Yield each line of ``stream``, without a byte order mark at the very beginning."""
    number = 0
    while data := stream.readline(MAX_ROW_BYTES):
        checkpoint()
        number += 1
        if number == 1:
            data = data.removeprefix(BOM)
        if len(data) < MAX_ROW_BYTES or data.endswith(b"\n"):
            yield Line(number, data, data.count(b'"'))
        else:
            yield Line(number, b"", data.count(b'"') + _skip_line(stream), too_long=True)


def _skip_line(stream: BinaryIO) -> int:
    """Read to the end of the line; returns the number of double quotes read."""
    quotes = 0
    while data := stream.readline(MAX_ROW_BYTES):
        checkpoint()
        quotes += data.count(b'"')
        if data.endswith(b"\n"):
            break
    return quotes
