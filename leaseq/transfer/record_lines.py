"""Feeds the lines of a table to ``csv.reader`` one record at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

from leaseq.transfer.delimiters import separator_of
from leaseq.transfer.lines import MAX_ROW_BYTES, Line, lines
from leaseq.transfer.quotes import QuoteMode, Quotes, detect_quotes


class RecordTooLong(Exception):
    """The record is longer than a row may be."""


class RecordLines:
    """Iterates over the lines for ``csv.reader``, and notes the current record's lines and errors."""

    def __init__(self, stream: BinaryIO, quotes: Quotes) -> None:
        self.quotes = QuoteMode(quotes)
        self._lines: Iterator[Line] = lines(stream)
        self._next: Line | None = None  # already taken from _lines
        self.begin()

    def begin(self) -> None:
        """Begin a record."""
        self.first = 0  # the record's first line
        self.last = 0
        self.not_utf8 = 0  # the first line of the record that is not UTF-8
        self.nul = 0  # the first line of the record with a NUL byte
        self._size = 0
        self._quotes = 0
        self._parts: list[bytes] = []

    def __iter__(self) -> RecordLines:
        return self

    def separator(self) -> str | None:
        """Skip a first line such as ``sep=;``, and return the delimiter that it names; None if there is no
        such line."""
        line = next(self._lines, None)
        delimiter = separator_of(line.data) if line else None
        if line and delimiter is None:
            self._lines = chain([line], self._lines)
        return delimiter

    def skip_to(self, number: int) -> None:
        """Skip the lines before this one."""
        for line in self._lines:
            if line.number >= number:
                self._lines = chain([line], self._lines)
                return

    def header(self) -> bytes:
        """The header's lines, without the blank ones before it; they are read again as a record."""
        header_lines: list[Line] = []
        quotes = size = 0
        for line in self._lines:
            header_lines.append(line)
            quotes, size = quotes + line.quotes, size + len(line.data)
            is_open = quotes % 2 and self.quotes.quotes == "double"
            if line.too_long or size > MAX_ROW_BYTES or (not is_open and line.data.strip(b"\r\n")):
                break
        self._lines = chain(header_lines, self._lines)
        return b"".join(line.data for line in header_lines).lstrip(b"\r\n")

    def detect_quotes(self, delimiter: str) -> None:
        """From here on, decide before each record whether it is ``is_quoted``."""
        if self.quotes.quotes == "auto":
            self._lines = detect_quotes(self._lines, delimiter, self.quotes)

    def is_quoted(self) -> bool:
        """Whether quotes enclose fields in the next record."""
        if self._next is None:
            self._next = next(self._lines, None)
        return self.quotes.quotes == "double"

    def span(self) -> tuple[int, int] | None:
        """The record's first and last line; None if it has only one."""
        return (self.first, self.last) if self.last > self.first else None

    def raw(self) -> bytes:
        """The record as it is in the file; empty if it is too long."""
        return b"".join(self._parts)

    def __next__(self) -> str:
        line = self._next_line()
        self._size += len(line.data)
        if line.too_long or self._size > MAX_ROW_BYTES:
            self._parts.clear()
            raise RecordTooLong
        self._parts.append(line.data)
        if b"\0" in line.data:
            self.nul = self.nul or line.number
        try:
            return line.data.decode()
        except UnicodeDecodeError:
            self.not_utf8 = self.not_utf8 or line.number
            return line.data.decode(errors="replace")

    def _next_line(self) -> Line:
        line, self._next = self._next or next(self._lines), None
        self.first = self.first or line.number
        self.last = line.number
        self._quotes += line.quotes
        return line

    def skip_record(self) -> None:
        """Skip to the line that closes the record's open quote."""
        while self._quotes % 2:
            try:
                self._next_line()
            except StopIteration:
                return
