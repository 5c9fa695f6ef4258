"""CSV and TSV: the separator, the quotes, the records."""

from __future__ import annotations

import csv
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO, Literal, Protocol, TypeAlias, get_args

from leaseq.checkpoints import with_checkpoints
from leaseq.errors import Invalid, TooLarge
from leaseq.models import Json
from leaseq.transfer.encodings import MAX_ROW_BYTES, TOO_LONG, Line, lines
from leaseq.transfer.rows import MAX_COLUMNS, BadRow, Remedy, Row, too_many_columns


class RecordTooLong(Exception):
    """The record is longer than a row may be."""


class RecordLines:
    """An iterator over the lines for ``csv.reader``, which notes the current record's lines and errors."""

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

    def bad_row(
        self, error: Invalid, remedy: Remedy | None = None, line: int = 0, value: Json = None
    ) -> BadRow:
        """The record as a bad row. ``line``: the one with the error, by default the first."""
        return BadRow(line or self.first, error, value, remedy, self.span(), self.raw())

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


Quotes: TypeAlias = Literal["auto", "double", "none"]
QUOTES: tuple[Quotes, ...] = get_args(Quotes)

_CLOSED = re.compile(rb'"(?:[^"]|"")*+"')


@dataclass(slots=True)
class QuoteMode:
    """The way in which quotes are read. ``auto``: no field has begun with one yet, so both ways give the same
    result."""

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


DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
NAMES = {mark: name for name, mark in DELIMITERS.items()}

_QUOTED = re.compile(rb'(?<![^,;|\t\r\n])"(?:[^"]|"")*"')  # a quote inside a cell is an ordinary character
_SEP = re.compile(rb"sep=(.?)\r?\n?", re.IGNORECASE)


def count_of(header: bytes, delimiter: str, *, quoted: bool = True) -> int:
    """The number of delimiters in a header; if quotes enclose cells (``quoted``), of those outside quotes."""
    return (_QUOTED.sub(b"", header) if quoted else header).count(delimiter.encode())


def splits_of(header: bytes, format: str, *, quoted: bool = True) -> tuple[str, ...]:
    """The possible delimiters of a table, from its header: several if it is ambiguous.

    A header without its format's own delimiters has one column, unless it contains another delimiter: then
    it may also be a table with that one.
    """
    delimiters = tuple(mark for mark in NAMES if count_of(header, mark, quoted=quoted))
    if format == "tsv":
        return ("\t",) if "\t" in delimiters else (*delimiters, "\t")
    return tuple(mark for mark in delimiters if mark != "|") or (*delimiters, ",")


def separator_of(line: bytes) -> str | None:
    """The delimiter in a line such as ``sep=;``, which spreadsheets write before the header.

    "" if the line names none, None if it is not such a line.
    """
    match = _SEP.fullmatch(line)
    return match[1].decode("latin-1") if match else None


def splits(
    stream: BinaryIO, format: str = "csv", quotes: Quotes = "auto", header_line: int | None = None
) -> tuple[str, ...]:
    """The possible delimiters, judging by the header: several if they are ambiguous."""
    delimiters = Delimited(stream, format, quotes, header_line=header_line).begin()
    return delimiters if set(delimiters) <= set(NAMES) else tuple(NAMES)


class Source(Protocol):
    """The records of a table, read once from beginning to end: rows of cells, each with its line."""

    is_text: bool = True  # whether each cell is text, also if it means a number
    header: bytes = b""  # the first record as it is in the file
    delimiter: str | None = None  # the character between the cells; None if the file is not a text
    marks: str = ""  # the word for that character
    quotes: QuoteMode  # the way in which quotes have been read so far
    blank_lines: int = 0  # so far; they are no records
    sheet: str | None = None  # of a workbook, once it is read: the name of the sheet
    sheets: int = 0  # of the workbook

    def records(self) -> Iterator[Row | BadRow]:
        """Each record as a list of cells. The lines before a given header are left out."""


class Delimited(Source):
    """A file of records with a delimiter between their cells."""

    def __init__(
        self,
        stream: BinaryIO,
        format: str,
        quotes: Quotes = "auto",
        delimiter: str | None = None,
        header_line: int | None = None,
    ) -> None:
        """``delimiter`` None: detected from the header. Lines before ``header_line`` are skipped."""
        self._format = format
        self._given_delimiter = delimiter
        self._header_line = header_line
        self._feed = RecordLines(stream, "double" if format == "csv" and quotes == "auto" else quotes)
        self.quotes = self._feed.quotes

    def begin(self) -> tuple[str, ...]:
        """Read the first lines; returns the possible delimiters."""
        separator = self._feed.separator()
        if self._header_line:
            self._feed.skip_to(self._header_line)
        self.header = self._feed.header()
        if self._given_delimiter is not None:
            return (self._given_delimiter,)
        if separator:
            return (separator,)
        return splits_of(self.header, self._format, quoted=self._is_quoted)

    def records(self) -> Iterator[Row | BadRow]:
        """Yield each record as a list of cells, without blank lines. If the delimiter can't be told, only a
        bad row that says so."""
        delimiters = self.begin()
        if len(delimiters) > 1 or delimiters[0] not in NAMES:
            yield BadRow(self._header_line or 1, self._delimiter_problem(delimiters), remedy="delimiter")
            return
        self.delimiter = delimiters[0]
        self.marks = f"{NAMES[self.delimiter]}s"
        yield from self._records(self.delimiter)

    @property
    def _is_quoted(self) -> bool:
        return self.quotes.quotes != "none"

    def _delimiter_problem(self, splits: Sequence[str]) -> Invalid:
        if splits[0] not in NAMES:
            return Invalid("row", "row", what="mark", mark=splits[0])
        counts = {
            f"{NAMES[split]}s": count_of(self.header, split, quoted=self._is_quoted) + 1 for split in splits
        }
        return Invalid("row", "row", what="splits", splits=counts)

    def _records(self, delimiter: str) -> Iterator[Row | BadRow]:
        # The csv module's limit is 131,072 characters a cell, below ours. It is process-wide: only raise it.
        csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW_BYTES))
        feed = self._feed
        feed.detect_quotes(delimiter)
        text_reader = csv.reader(feed, delimiter=delimiter, quoting=csv.QUOTE_NONE, strict=True)
        quote_reader = csv.reader(feed, delimiter=delimiter, strict=True)
        while True:
            feed.begin()
            quoted = feed.is_quoted()
            try:
                cells = next(quote_reader if quoted else text_reader)
            except StopIteration:
                return
            except RecordTooLong:
                if quoted:
                    feed.skip_record()
                yield _too_long(feed)
            except csv.Error as error:
                yield _malformed(feed, str(error))
            else:
                if cells:
                    yield _record(feed, cells)
                else:
                    self.blank_lines += 1


def _record(feed: RecordLines, cells: list[str]) -> Row | BadRow:
    if len(cells) > MAX_COLUMNS:
        return feed.bad_row(too_many_columns(len(cells)))
    if feed.not_utf8:
        return feed.bad_row(Invalid("row", "row", what="utf8"), "encoding", feed.not_utf8, cells)
    if feed.nul:
        return feed.bad_row(Invalid("row", "row", what="nul"), None, feed.nul, cells)
    return Row(feed.first, cells, feed.span(), feed.raw())


def _too_long(feed: RecordLines) -> BadRow:
    span = feed.span()
    if span is None:
        return BadRow(feed.first, TOO_LONG)
    error = TooLarge("row", "row", what="long_quote", maximum=MAX_ROW_BYTES)
    return BadRow(feed.first, error, None, "quotes", span)


def _malformed(feed: RecordLines, error: str) -> BadRow:
    if error.startswith("unexpected end of data"):
        return feed.bad_row(Invalid("row", "row", what="quote"), "quotes")
    if error.startswith("new-line character"):
        return feed.bad_row(Invalid("row", "row", what="return"))
    if "expected after" in error:
        return feed.bad_row(Invalid("row", "row", what="after_quote"), "quotes")
    return feed.bad_row(Invalid("row", "row", what="malformed"))
