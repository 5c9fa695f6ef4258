"""Detects whether the double quotes of a table enclose its fields or are ordinary characters."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal, TypeAlias, get_args

from leaseq.checkpoints import with_checkpoints
from leaseq.transfer.lines import Line

Quotes: TypeAlias = Literal["auto", "double", "none"]
QUOTES: tuple[Quotes, ...] = get_args(Quotes)

_CLOSED = re.compile(rb'"(?:[^"]|"")*+"')


@dataclass(slots=True)
class QuoteMode:
    """How quotes are read. ``auto``: no field has begun with one yet, so both ways give the same result."""

    quotes: Quotes
    unquoted: int = 0
    open_quote_line: int | None = None


def detect_quotes(lines: Iterator[Line], delimiter: str, mode: QuoteMode) -> Iterator[Line]:
    """Yield the same lines; sets ``mode`` before the first line with a field that begins with a quote.

    To decide, it reads lines ahead from there into a temporary file, up to the first quote that is left open
    or the end of the file. If no field begins with a quote, nothing is read ahead.
    """
    mark = delimiter.encode()
    for first in lines:
        if _in_quotes(first, mark):
            break
        yield first
    else:
        return
    too_long_numbers: set[int] = set()
    with tempfile.TemporaryFile() as spool:
        mode.quotes = "double"
        for line in chain([first], lines):
            spool.write(line.data or b"\n")
            if line.too_long:
                too_long_numbers.add(line.number)
            fields = _in_quotes(line, mark)
            mode.unquoted += len(fields)
            if not all(map(_CLOSED.fullmatch, fields)):
                mode.quotes, mode.unquoted, mode.open_quote_line = "none", 0, line.number
                break
        spool.seek(0)
        for number, data in enumerate(with_checkpoints(spool), first.number):
            is_too_long = number in too_long_numbers
            yield Line(
                number,
                b"" if is_too_long else data,
                0 if is_too_long else data.count(b'"'),
                too_long=is_too_long,
            )
    yield from lines


def _in_quotes(line: Line, mark: bytes) -> list[bytes]:
    """The fields that begin with a quote, with the line split at every delimiter."""
    if not line.quotes:
        return []
    text = line.data.removesuffix(b"\n").removesuffix(b"\r")
    return [field for field in text.split(mark) if field.startswith(b'"')]
