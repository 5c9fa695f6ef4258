"""CSV and TSV, row by row, as RFC 4180 has them, but for what splits the columns: a header, one number of
columns, UTF-8."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import BinaryIO

from leaseq.transfer.delimiters import NAMES, count_of, splits_of
from leaseq.transfer.lines import MAX_ROW_BYTES, NOT_UTF8, TOO_LONG, UTF16, Line, lines
from leaseq.transfer.rows import BadRow, Row


class _TooLong(Exception):
    """The record goes on past what a row may have."""


class _Feed:
    """Hands lines to ``csv.reader`` and knows where its present record began and what is wrong in it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._lines: Iterator[Line] = lines(stream)
        self.begin()

    def begin(self) -> None:
        self.first = 0  # the record's first line
        self.last = 0
        self.not_utf8 = 0  # the first line of the record that is not UTF-8
        self.nul = 0  # the first with a NUL byte
        self._size = 0
        self._quotes = 0

    def __iter__(self) -> _Feed:
        return self

    def header(self) -> bytes:
        """The lines that the header takes, and blank ones before it; they are read again as a record."""
        ahead: list[Line] = []
        quotes = size = 0
        for line in self._lines:
            ahead.append(line)
            quotes, size = quotes + line.quotes, size + len(line.data)
            if line.too_long or size > MAX_ROW_BYTES or (quotes % 2 == 0 and line.data.strip(b"\r\n")):
                break
        self._lines = chain(ahead, self._lines)
        return b"".join(line.data for line in ahead).lstrip(b"\r\n")

    def __next__(self) -> str:
        line = self._take()
        self._size += len(line.data)
        if line.too_long or self._size > MAX_ROW_BYTES:
            raise _TooLong
        if b"\0" in line.data:
            self.nul = self.nul or line.number
        try:
            return line.data.decode()
        except UnicodeDecodeError:
            self.not_utf8 = self.not_utf8 or line.number
            return line.data.decode(errors="replace")

    def _take(self) -> Line:
        line = next(self._lines)
        self.first = self.first or line.number
        self.last = line.number
        self._quotes += line.quotes
        return line

    def skip_record(self) -> None:
        """Go on to the line in which the record's last open quote is closed."""
        while self._quotes % 2:
            try:
                self._take()
            except StopIteration:
                return


def splits(stream: BinaryIO) -> tuple[str, ...]:
    """What may split the columns of a table, as its header tells: several where it does not tell."""
    return splits_of(_Feed(stream).header())


def read_table(
    stream: BinaryIO, delimiter: str | None, *, needs: Sequence[str] = ()
) -> Iterator[Row | BadRow]:
    """Each row as a dict of strings. Where the header is bad, that is the one row reported.

    ``delimiter`` None: what splits the header. ``needs`` names the columns that must be there.
    """
    feed = _Feed(stream)
    header_text = feed.header()
    if header_text.startswith(UTF16):
        yield BadRow(1, NOT_UTF8)
        return
    splits = splits_of(header_text) if delimiter is None else (delimiter,)
    if len(splits) > 1:
        yield BadRow(1, _ambiguous(header_text, splits))
        return
    records = _records(feed, splits[0])
    header = next(records, None)
    if header is None:
        yield BadRow(1, "the file is empty; its first row must name the columns")
        return
    if isinstance(header, BadRow):
        yield BadRow(header.line, f"the header can't be read: {header.message}")
        return
    names: list[str] = header.value
    problem = _problem(names, needs)
    if problem:
        yield BadRow(header.line, problem)
        return
    for record in records:
        if isinstance(record, BadRow):
            yield record
        elif len(record.value) != len(names):
            yield BadRow(
                record.line,
                f"the header has {len(names)} columns, this row has {len(record.value)}",
                record.value,
            )
        else:
            yield Row(record.line, dict(zip(names, record.value, strict=True)))


def _problem(names: list[str], needs: Sequence[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return f"the header names the column {name!r} twice"
        seen.add(name)
    for name in needs:
        if name not in seen:
            return f"the header has no column {name!r}; it has {', '.join(map(repr, names))}"
    return None


def _ambiguous(header: bytes, splits: Sequence[str]) -> str:
    either = " or by ".join(f"{NAMES[one]}s ({count_of(header, one) + 1} columns)" for one in splits)
    return f"the header can be split by {either}: say which it is, by the delimiter"


def _records(feed: _Feed, delimiter: str) -> Iterator[Row | BadRow]:
    """Each record as a list of cells; blank lines are passed over."""
    # The module's own limit is 131,072 characters a cell, below ours. It is process-wide: only ever raise it.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW_BYTES))
    reader = csv.reader(feed, delimiter=delimiter, strict=True)
    while True:
        feed.begin()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except _TooLong:
            feed.skip_record()
            yield BadRow(feed.first, TOO_LONG + _span(feed))
        except csv.Error as error:
            yield BadRow(feed.first, _say(str(error)) + _span(feed))
        else:
            if feed.not_utf8:
                yield BadRow(feed.not_utf8, "not UTF-8 text", cells)
            elif feed.nul:
                yield BadRow(feed.nul, "a NUL byte; is this file UTF-8 text?", cells)
            elif cells:
                yield Row(feed.first, cells)


def _say(error: str) -> str:
    if error.startswith("unexpected end of data"):
        return "a quote that opens here is never closed"
    if error.startswith("new-line character"):
        return "a bare carriage return; lines end with LF or CRLF"
    return f"not well-formed: {error}"


def _span(feed: _Feed) -> str:
    return f" (lines {feed.first:,} to {feed.last:,} are left out)" if feed.last > feed.first else ""
