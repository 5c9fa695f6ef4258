"""Reads CSV and TSV row by row, as in RFC 4180, and detects the delimiter and the quoting.

A table has a header, the same number of columns in each row, and is UTF-8.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from leaseq.transfer.delimiters import NAMES, count_of, splits_of
from leaseq.transfer.lines import MAX_ROW_BYTES, NOT_UTF8, TOO_LONG, UTF16
from leaseq.transfer.quotes import Quotes
from leaseq.transfer.record_lines import RecordLines, RecordTooLong
from leaseq.transfer.rejects import REJECTED
from leaseq.transfer.rows import BadRow, Remedy, Row


@dataclass(frozen=True, slots=True)
class TableSummary:
    """How the quotes and lines of a table have been read so far."""

    quotes: Quotes  # "auto" as long as no field has begun with a quote
    unquoted: int = 0  # fields whose quotes "auto" removed
    open_quote_line: int | None = (
        None  # line of the unclosed quote because of which "auto" reads all quotes as text
    )
    joined_rows: int = 0  # good rows that span several lines, inside quotes
    joined_lines: int = 0  # the lines of these rows
    joined_first: tuple[int, int] | None = None  # the first and last line of the first of these rows
    blank_lines: int = 0  # blank lines, which are skipped


def splits(stream: BinaryIO, format: str = "csv", quotes: Quotes = "auto") -> tuple[str, ...]:
    """The possible delimiters, judging by the first lines: several if they are ambiguous."""
    delimiters = Table(stream, format, quotes).begin()
    return delimiters if set(delimiters) <= set(NAMES) else tuple(NAMES)


class Table:
    """A table, read once from beginning to end."""

    def __init__(self, stream: BinaryIO, format: str, quotes: Quotes, delimiter: str | None = None) -> None:
        """``delimiter`` None: detected from the first lines."""
        self._format = format
        self._delimiter = delimiter
        self._feed = RecordLines(stream, "double" if format == "csv" and quotes == "auto" else quotes)
        self._header = b""
        self._used_delimiter: str | None = None  # the delimiter, once the header has been read
        self._is_rejects = False  # whether these are the rejected rows of an earlier import
        self._summary = TableSummary("auto")

    @property
    def summary(self) -> TableSummary:
        """The summary of the rows read so far."""
        mode = self._feed.quotes
        return replace(
            self._summary,
            quotes=mode.quotes,
            unquoted=mode.unquoted,
            open_quote_line=mode.open_quote_line,
        )

    def begin(self) -> tuple[str, ...]:
        """Read the first lines; returns the possible delimiters."""
        separator = self._feed.separator()
        self._header = self._feed.header()
        if self._delimiter is not None:
            return (self._delimiter,)
        if separator:
            return (separator,)
        return splits_of(self._header, self._format, quoted=self._is_quoted)

    @property
    def _is_quoted(self) -> bool:
        return self._feed.quotes.quotes != "none"

    def rows(self, needs: Sequence[str] = ()) -> Iterator[Row | BadRow]:
        """Yield each row as a dict of strings. If the header is bad, only the header is reported.

        ``needs`` names the required columns.
        """
        splits = self.begin()
        if self._header.startswith(UTF16):
            yield BadRow(1, NOT_UTF8, remedy="encoding")
            return
        if len(splits) > 1 or splits[0] not in NAMES:
            yield BadRow(1, self._split_problem(splits), remedy="delimiter")
            return
        records = self._records(splits[0])
        header = next(records, None)
        if header is None:
            yield BadRow(1, "the file is empty; its first row must name the columns")
            return
        if isinstance(header, BadRow):
            yield replace(header, fault=f"the header can't be read: {header.fault}", value=None)
            return
        self._is_rejects = header.value[: len(REJECTED)] == REJECTED
        names = self._cells(header.value)
        problem = _problem(names, needs)
        if problem:
            yield BadRow(header.line, problem)
            return
        self._used_delimiter = splits[0]
        if header.span:
            self.count_joined(*header.span)
        for record in records:
            yield self._bad_row(record) if isinstance(record, BadRow) else self._row(record, names)

    @property
    def head(self) -> tuple[bytes, str] | None:
        """The header as it is in the file, and the delimiter; None if no header has been read."""
        if self._used_delimiter is None:
            return None
        return self._text(self._header), self._used_delimiter

    def _cells(self, cells: list[str]) -> list[str]:
        """The cells without the two that an earlier import added when it rejected the row."""
        return cells[len(REJECTED) :] if self._is_rejects else cells

    def _text(self, raw: bytes) -> bytes:
        """A row's text without those two cells."""
        if not self._is_rejects or self._used_delimiter is None:
            return raw
        return raw.split(self._used_delimiter.encode(), len(REJECTED))[-1]

    def _bad_row(self, row: BadRow) -> BadRow:
        value = self._cells(row.value) if isinstance(row.value, list) else row.value
        return replace(row, value=value, raw=self._text(row.raw) if row.raw is not None else None)

    def _row(self, record: Row, names: list[str]) -> Row | BadRow:
        # equivalent mutant: part:2: a record that was read always has its text
        cells, raw = self._cells(record.value), self._text(record.raw or b"")
        if len(cells) != len(names):
            columns = f"{len(names)} column{'s' if len(names) > 1 else ''}"
            split = f"separated by {NAMES[self._used_delimiter or ',']}s"
            fault = f"the header has {columns} and this row has {len(cells)} ({split})"
            remedy: Remedy | None = "quotes" if record.span else None
            return BadRow(record.line, fault, cells, remedy, record.span, raw=raw)
        return Row(record.line, dict(zip(names, cells, strict=True)), record.span, raw)

    def _split_problem(self, splits: Sequence[str]) -> str:
        if splits[0] not in NAMES:
            return f"the first line names {splits[0]!r} as the separator, which is not supported"
        counts = {one: count_of(self._header, one, quoted=self._is_quoted) + 1 for one in splits}
        choices = " or by ".join(
            f"{NAMES[one]}s ({count} column{'s' if count > 1 else ''})" for one, count in counts.items()
        )
        return f"the header can be split by {choices}"

    def _records(self, delimiter: str) -> Iterator[Row | BadRow]:
        """Yield each record as a list of cells, without blank lines."""
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
                yield replace(_malformed(feed, str(error)), raw=feed.raw())
            else:
                if feed.not_utf8:
                    yield BadRow(
                        feed.not_utf8,
                        "not UTF-8 text",
                        cells,
                        "encoding",
                        left_out=feed.span(),
                        raw=feed.raw(),
                    )
                elif feed.nul:
                    fault = "a NUL byte; is this file UTF-8 text?"
                    yield BadRow(feed.nul, fault, cells, left_out=feed.span(), raw=feed.raw())
                elif cells:
                    yield Row(feed.first, cells, feed.span(), feed.raw())
                else:
                    self._count_blank()

    def _count_blank(self) -> None:
        self._summary = replace(self._summary, blank_lines=self._summary.blank_lines + 1)

    def count_joined(self, first: int, last: int) -> None:
        """Count a good row that spans several lines."""
        summary = self._summary
        self._summary = replace(
            summary,
            joined_rows=summary.joined_rows + 1,
            joined_lines=summary.joined_lines + last - first + 1,
            joined_first=summary.joined_first or (first, last),
        )


def _problem(names: list[str], needs: Sequence[str]) -> str | None:
    columns: set[str] = set()
    for name in names:
        if name in columns:
            return f"the header names the column {name!r} twice: rename one of them"
        columns.add(name)
    for name in needs:
        if name not in columns:
            return f"the header has no column {name!r}; it has {', '.join(map(repr, names))}"
    return None


def _too_long(feed: RecordLines) -> BadRow:
    span = feed.span()
    if span is None:
        return BadRow(feed.first, TOO_LONG, too_large=True)
    fault = f"a quote opens in this row and does not close within {MAX_ROW_BYTES:,} bytes"
    return BadRow(feed.first, fault, None, "quotes", span, too_large=True)


def _malformed(feed: RecordLines, error: str) -> BadRow:
    span = feed.span()
    if error.startswith("unexpected end of data"):
        return BadRow(feed.first, "a quote opens in this row and does not close", None, "quotes", span)
    if error.startswith("new-line character"):
        return BadRow(feed.first, "a bare carriage return; lines end with LF or CRLF", left_out=span)
    if "expected after" in error:
        return BadRow(feed.first, "text follows a quote that closes in this row", None, "quotes", span)
    return BadRow(feed.first, f"not well-formed: {error}", left_out=span)
