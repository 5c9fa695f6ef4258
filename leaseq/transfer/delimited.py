"""The records of a CSV or TSV file, as in RFC 4180, with its delimiter and its quoting detected."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import BinaryIO

from leaseq.transfer.delimiters import NAMES, count_of, splits_of
from leaseq.transfer.formats import MAX_COLUMNS, columns_fault
from leaseq.transfer.lines import MAX_ROW_BYTES, TOO_LONG
from leaseq.transfer.quotes import QuoteMode, Quotes
from leaseq.transfer.record_lines import RecordLines, RecordTooLong
from leaseq.transfer.rows import BadRow, Remedy, Row


def splits(
    stream: BinaryIO, format: str = "csv", quotes: Quotes = "auto", header_line: int | None = None
) -> tuple[str, ...]:
    """The possible delimiters, judging by the header: several if they are ambiguous."""
    delimiters = Delimited(stream, format, quotes, header_line=header_line).begin()
    return delimiters if set(delimiters) <= set(NAMES) else tuple(NAMES)


class Delimited:
    """A file of records with a delimiter between their cells, read once from beginning to end."""

    is_text = True  # the cells are text, also those that mean a number
    sheet: str | None = None
    sheets = 0

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
        self.header = b""  # the first record, as it is in the file
        self.delimiter: str | None = None  # once it is known
        self.blank_lines = 0  # so far

    @property
    def quotes(self) -> QuoteMode:
        """How the quotes have been read so far."""
        return self._feed.quotes

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
        yield from self._records(self.delimiter)

    @property
    def separation(self) -> str:
        """What is between the cells, in words."""
        return f" (separated by {NAMES[self.delimiter or ',']}s)"

    @property
    def _is_quoted(self) -> bool:
        return self.quotes.quotes != "none"

    def _delimiter_problem(self, splits: Sequence[str]) -> str:
        if splits[0] not in NAMES:
            return f"the first line names {splits[0]!r} as the separator, which is not supported"
        counts = {one: count_of(self.header, one, quoted=self._is_quoted) + 1 for one in splits}
        choices = " or by ".join(
            f"{NAMES[one]}s ({count} column{'s' if count > 1 else ''})" for one, count in counts.items()
        )
        return f"the header can be split by {choices}"

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
                yield replace(_malformed(feed, str(error)), raw=feed.raw())
            else:
                if cells:
                    yield _record(feed, cells)
                else:
                    self.blank_lines += 1


def _record(feed: RecordLines, cells: list[str]) -> Row | BadRow:
    if len(cells) > MAX_COLUMNS:
        return BadRow(feed.first, columns_fault(len(cells)), left_out=feed.span(), raw=feed.raw())
    if feed.not_utf8:
        return _bad_record(feed, feed.not_utf8, "not UTF-8 text", cells, "encoding")
    if feed.nul:
        return _bad_record(feed, feed.nul, "a NUL byte; is this file UTF-8 text?", cells)
    return Row(feed.first, cells, feed.span(), feed.raw())


def _bad_record(
    feed: RecordLines, line: int, fault: str, cells: list[str], remedy: Remedy | None = None
) -> BadRow:
    return BadRow(line, fault, cells, remedy, left_out=feed.span(), raw=feed.raw())


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
