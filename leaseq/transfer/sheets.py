"""Reads the first sheet of an xlsx workbook, as the text of a CSV file: each row of the sheet is one of it.

A workbook is a ZIP file of XML, so its size says little about what reading it costs: what it unpacks to is
limited before any of it is read, and the sheet itself is read row by row.
"""

from __future__ import annotations

import csv
import io
import json
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import date, datetime, time, timedelta
from typing import IO, Any, BinaryIO
from xml.etree.ElementTree import ParseError

from leaseq.checkpoints import checkpoint
from leaseq.errors import Invalid
from leaseq.transfer.encodings import _Pieces
from leaseq.transfer.workbooks import MAX_ROWS, unescaped

MAX_BYTES = 104_857_600
MAX_UNPACKED = 1_073_741_824
MAX_PART = 134_217_728  # of each part but the sheets: these are kept in memory
MAX_EXPANSION = 200  # real sheets unpack to 5 to 30 times their size
_FREE_BYTES = 16_777_216
_CHUNK = 65_536
_FAULTS = (
    zipfile.BadZipFile, zlib.error, ParseError, EOFError, LookupError, ValueError, TypeError, AttributeError,
    OverflowError, NotImplementedError, RuntimeError,
)  # fmt: skip  # what openpyxl and zipfile raise for a file that is damaged, or of another kind


def sheet_csv(stream: BinaryIO) -> BinaryIO:
    """The first sheet of a workbook as CSV in UTF-8: quoted, separated by commas, each row as wide as the
    first one. Numbers and booleans are written as in JSON, dates as in ISO 8601, and a formula as the value
    that was stored with it. Reading from the result raises Invalid if the workbook can't be read."""
    return io.BufferedReader(_Pieces(_lines(stream)))


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    with tempfile.TemporaryFile() as file:
        _copy(stream, file)
        _check_sizes(file)
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL)
        width = 0
        for row in _rows(file):
            checkpoint()
            texts = [_text_of(cell) for cell in row]
            while texts and not texts[-1]:
                texts.pop()
            width = width or len(texts)
            writer.writerow(texts and [*texts, *[""] * (width - len(texts))])
            yield buffer.getvalue().encode(errors="replace")
            buffer.seek(0)
            buffer.truncate()


def _copy(stream: BinaryIO, file: IO[bytes]) -> None:
    """Copy the stream, since a ZIP file is read from its end."""
    size = 0
    while piece := stream.read(_CHUNK):
        checkpoint()
        size += len(piece)
        if size > MAX_BYTES:
            raise _refusal(f"at most {MAX_BYTES:,} bytes of xlsx")
        file.write(piece)


def _check_sizes(file: IO[bytes]) -> None:
    """Refuse a workbook that unpacks to too much. A part can't be longer than the archive says it is."""
    try:
        with zipfile.ZipFile(file) as archive:
            parts = archive.infolist()
    except _FAULTS as error:
        raise _damaged(error) from None
    total = sum(part.file_size for part in parts)
    is_too_large = total > MAX_UNPACKED or any(
        part.file_size > (MAX_UNPACKED if _is_sheet(part) else MAX_PART)
        or part.file_size > _FREE_BYTES + MAX_EXPANSION * part.compress_size  # guard: workbook-expansion
        for part in parts
    )
    if is_too_large:
        raise _refusal(
            f"a workbook that unpacks to at most {MAX_UNPACKED:,} bytes and {MAX_EXPANSION} times its size"
        )


def _is_sheet(part: zipfile.ZipInfo) -> bool:
    return part.filename.startswith("xl/worksheets/")


def _rows(file: IO[bytes]) -> Iterator[Iterable[Any]]:
    try:
        import openpyxl  # noqa: PLC0415  # an extra, and slow to import
    except ImportError:
        limit = "installed with the extra xlsx: pip install 'leaseq[xlsx]'"
        raise Invalid("format", limit, f"format: xlsx is read if leaseq is {limit}") from None
    try:
        with closing(openpyxl.load_workbook(_Checked(file), read_only=True, data_only=True)) as workbook:
            sheet = workbook.worksheets[0]
            sheet.reset_dimensions()  # programs write wrong ones
            for number, row in enumerate(sheet.iter_rows(), 1):
                if number > MAX_ROWS:
                    raise _refusal(f"at most {MAX_ROWS:,} rows in a sheet")
                yield row
    except Invalid:
        raise
    except _FAULTS as error:
        raise _damaged(error) from None


class _Checked(io.RawIOBase):
    """A file with a checkpoint before each read, for a library that knows of none."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: Any) -> int:
        checkpoint()
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _text_of(cell: Any) -> str:
    value = cell.value
    match value:
        case None:
            return ""
        case bool():
            return json.dumps(value)
        case float() if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
        case datetime():
            return _moment(value, cell.number_format)
        case date() | time():
            return value.isoformat()
        case timedelta():
            return str(value)
    return unescaped(value) if isinstance(value, str) else str(value)


def _moment(value: datetime, number_format: str) -> str:
    from openpyxl.styles.numbers import is_datetime  # noqa: PLC0415

    return value.date().isoformat() if is_datetime(number_format) == "date" else value.isoformat()


def _refusal(limit: str) -> Invalid:
    return Invalid("file", limit, f"file: {limit}: save the sheet as CSV (UTF-8), and import that")


def _damaged(error: Exception) -> Invalid:
    limit = "an xlsx workbook that is whole and has no password"
    return Invalid(
        "file", limit, f"file: {limit}; this can't be read ({type(error).__name__}: {str(error)[:100]})"
    )
