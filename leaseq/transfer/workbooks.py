"""xlsx workbooks, read and written."""

from __future__ import annotations

import io
import math
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from functools import partial
from typing import IO, Any, BinaryIO
from xml.etree.ElementTree import ParseError
from xml.sax.saxutils import escape

from leaseq.checkpoints import checkpoint, run_beside
from leaseq.errors import Invalid
from leaseq.models import Json
from leaseq.transfer.delimited import QuoteMode, Source
from leaseq.transfer.encodings import MAX_ROW_BYTES, TOO_LONG
from leaseq.transfer.rows import MAX_COLUMNS, BadRow, Row, column_letter, compact_json, too_many_columns

MAX_BYTES = 104_857_600
MAX_UNPACKED = 1_073_741_824
MAX_PART = 134_217_728  # of each part but the sheets: these are kept in memory
MAX_EXPANSION = 200  # real sheets unpack to 5 to 30 times their size
_FREE_BYTES = 16_777_216
_CHUNK = 65_536
_PIECE_BYTES = 2_000_000  # of the first rows that are kept in memory
_BATCH_SIZE = 20_000  # of the rows that are read at once: characters, cells, and _ROW_SIZE for each row
_ROW_SIZE = 20
_MAX_NAME = 100  # a spreadsheet allows 31 characters
_FAULTS = (
    zipfile.BadZipFile, zlib.error, ParseError, EOFError, LookupError, ValueError, TypeError, AttributeError,
    OverflowError, NotImplementedError, RuntimeError,
)  # fmt: skip  # what openpyxl and zipfile raise for a file that is damaged, or of another kind


@dataclass(frozen=True, slots=True)
class SheetRows:
    """The rows of a workbook's first sheet, each as its cells: text, numbers and booleans. Dates are text
    as in ISO 8601, a formula is the value that was stored with it, and an empty cell is empty text."""

    name: str
    sheets: int  # of the workbook
    rows: Iterable[list[Json]]
    is_whole: bool = True  # whether these are all rows


class Sheet(Source):
    """The records of a workbook's first sheet, read once from beginning to end."""

    is_text = False

    def __init__(self, stream: BinaryIO | SheetRows, header_line: int | None = None) -> None:
        """Rows before ``header_line`` are skipped."""
        self._stream = stream
        self._first_line = header_line or 1
        self.quotes = QuoteMode("auto")

    def records(self) -> Iterator[Row | BadRow]:
        """Yield each row as a list of cells, each at least as long as the first that is not empty. Raises
        Invalid if the workbook can't be read."""
        stream = self._stream
        with nullcontext(stream) if isinstance(stream, SheetRows) else opened(stream) as sheet:
            self.sheet, self.sheets = sheet.name, sheet.sheets
            width = 0
            for line, cells in enumerate(sheet.rows, 1):
                checkpoint()
                if line < self._first_line:
                    continue
                if len(cells) > MAX_COLUMNS:
                    yield BadRow(line, too_many_columns(len(cells)))
                    continue
                if _size(cells) > MAX_ROW_BYTES:
                    yield BadRow(line, TOO_LONG)
                    continue
                width = width or len(cells)
                yield Row(line, [*cells, *[""] * (width - len(cells))])


def first_rows(stream: BinaryIO, count: int) -> SheetRows:
    """The first rows of a workbook's first sheet, kept in memory. Raises Invalid if it can't be read."""
    rows: list[list[Json]] = []
    size = 0
    with opened(stream) as sheet:
        for cells in sheet.rows:
            checkpoint()
            size += _size(cells)
            if len(rows) >= count or size > _PIECE_BYTES:
                return replace(sheet, rows=rows, is_whole=False)
            rows.append(cells)
        return replace(sheet, rows=rows)


@contextmanager
def opened(stream: BinaryIO) -> Iterator[SheetRows]:
    """The first sheet of a workbook, of those that are not hidden. Raises Invalid if it can't be read; so
    does reading its rows."""
    with tempfile.TemporaryFile() as file:
        _copy(stream, file)
        workbook = run_beside(partial(_loaded, file))
        with closing(workbook):
            with _faults_refused():
                sheets = [sheet for sheet in workbook.worksheets if sheet.sheet_state == "visible"]
                sheet = (sheets or workbook.worksheets)[0]
                sheet.reset_dimensions()  # programs write wrong ones
            yield SheetRows(sheet.title[:_MAX_NAME], len(sheets) or 1, _rows(sheet))


def _loaded(file: IO[bytes]) -> Any:
    """openpyxl's workbook, with all parts but the sheets read."""
    try:
        import openpyxl  # noqa: PLC0415  # an extra, and slow to import
    except ImportError:
        raise Invalid("format", "workbook", what="extra") from None
    _check_sizes(file)
    with _faults_refused():
        return openpyxl.load_workbook(file, read_only=True, data_only=True)


def _rows(sheet: Any) -> Iterator[list[Json]]:
    rows = _rows_of(sheet)
    while batch := run_beside(partial(_next_rows, rows)):
        yield from batch


def _next_rows(rows: Iterator[list[Json]]) -> list[list[Json]]:
    """The next rows, as many as are read at once; none at the end."""
    batch, size = list[list[Json]](), 0
    for cells in rows:
        batch.append(cells)
        size += _ROW_SIZE + len(cells) + _size(cells)
        if size >= _BATCH_SIZE:
            break
    return batch


def _rows_of(sheet: Any) -> Iterator[list[Json]]:
    with _faults_refused():
        for number, row in enumerate(sheet.iter_rows(), 1):
            if number > MAX_ROWS:
                raise Invalid("file", "maximum", what="sheet_rows", maximum=MAX_ROWS)
            cells = [_value_of(cell) for cell in row]
            while cells and cells[-1] == "":
                cells.pop()
            yield cells


@contextmanager
def _faults_refused() -> Iterator[None]:
    try:
        yield
    except Invalid:
        raise
    except _FAULTS:
        raise Invalid("file", "workbook", what="whole") from None


def _size(cells: list[Json]) -> int:
    return sum(len(cell) for cell in cells if isinstance(cell, str))


def _copy(stream: BinaryIO, file: IO[bytes]) -> None:
    """Copy the stream, since a ZIP file is read from its end."""
    size = 0
    while piece := stream.read(_CHUNK):
        checkpoint()
        size += len(piece)
        if size > MAX_BYTES:
            raise Invalid("file", "maximum", what="sheet_bytes", maximum=MAX_BYTES)
        file.write(piece)


def _check_sizes(file: IO[bytes]) -> None:
    """Refuse a workbook that unpacks to too much. A part can't be longer than the archive says it is."""
    with _faults_refused(), zipfile.ZipFile(file) as archive:
        parts = archive.infolist()
    total = sum(part.file_size for part in parts)
    is_too_large = total > MAX_UNPACKED or any(
        part.file_size > (MAX_UNPACKED if part.filename.startswith("xl/worksheets/") else MAX_PART)
        or part.file_size > _FREE_BYTES + MAX_EXPANSION * part.compress_size
        for part in parts
    )
    if is_too_large:
        raise Invalid("file", "maximum", what="sheet_unpacked", maximum=MAX_UNPACKED, times=MAX_EXPANSION)


def _value_of(cell: Any) -> Json:
    value = cell.value
    match value:
        case None:
            return ""
        case bool() | int():
            return value
        case float() if math.isfinite(value):
            return int(value) if value.is_integer() and abs(value) < 1e21 else value
        case datetime():
            return _moment(value, cell.number_format)
        case date() | time():
            return value.isoformat()
    return unescaped(value) if isinstance(value, str) else str(value)


def _moment(value: datetime, number_format: str) -> str:
    from openpyxl.styles.numbers import is_datetime  # noqa: PLC0415

    return value.date().isoformat() if is_datetime(number_format) == "date" else value.isoformat()


# Limits of the format.
MAX_TEXT = 32_767  # characters of a cell, in UTF-16
MAX_ROWS = 1_048_576  # with the header
_EXACT = 10**15  # a spreadsheet shows 15 digits of a number: a larger one is written as text
_PIECE = 65_536

# What XML can't contain, or changes; and what looks like the escape of such a character.
_SPECIAL = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PLAIN = 'numFmtId="0" fontId="0" fillId="0" borderId="0"'
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook {_MAIN} xmlns:r="{_OFFICE}">'
    '<sheets><sheet name="Export" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="rId2" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
    # Style 1 is the number format "@": a cell stays text when somebody edits it.
    "xl/styles.xml": f"<styleSheet {_MAIN}>"
    '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    f'<cellStyleXfs count="1"><xf {_PLAIN}/></cellStyleXfs>'
    f'<cellXfs count="2"><xf {_PLAIN} xfId="0"/>'
    '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
}
_SHEET_HEAD = (
    f'<worksheet {_MAIN}><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" '
    'activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>'
)


def workbook(names: Sequence[str], rows: Iterable[Mapping[str, Json]]) -> Iterator[bytes]:
    """Yield the file in pieces. ``names`` are the columns, in order; a row may lack some."""
    output = _Pieces()
    columns = [(name, column_letter(number)) for number, name in enumerate(names, 1)]
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in _PARTS.items():
            archive.writestr(zipfile.ZipInfo(path), (_HEAD + text).encode(), zipfile.ZIP_DEFLATED)
        entry = zipfile.ZipInfo("xl/worksheets/sheet1.xml")
        entry.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(entry, "w") as sheet:
            sheet.write((_HEAD + _SHEET_HEAD + _row(1, columns, {name: name for name in names})).encode())
            for number, row in enumerate(rows, 2):
                if number > MAX_ROWS:
                    raise Invalid("format", "maximum", what="xlsx_rows", maximum=MAX_ROWS)
                sheet.write(_row(number, columns, row).encode())
                if output.size >= _PIECE:
                    yield output.take()
            sheet.write(b"</sheetData></worksheet>")
    yield output.take()


def unescaped(text: str) -> str:
    """The text of a cell whose special characters were escaped, such as ``_x000D_``."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


class _Pieces(io.RawIOBase):
    """A stream that keeps what is written until it is taken. The archive can't go back in it."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._pieces.append(bytes(data))
        self.size += len(data)
        return len(data)

    def take(self) -> bytes:
        data = b"".join(self._pieces)
        self._pieces.clear()
        self.size = 0
        return data


def _row(number: int, columns: Iterable[tuple[str, str]], row: Mapping[str, Json]) -> str:
    cells = (_cell(f"{letters}{number}", name, row) for name, letters in columns)
    return f'<row r="{number}">{"".join(cells)}</row>'


def _cell(place: str, name: str, row: Mapping[str, Json]) -> str:
    value = row.get(name)
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{value:d}</v></c>'
    if isinstance(value, int | float) and abs(value) < _EXACT:
        return f'<c r="{place}"><v>{value!r}</v></c>'
    text = value if isinstance(value, str) else compact_json(value)
    if len(text) > MAX_TEXT // 2 and len(text.encode("utf-16-le")) // 2 > MAX_TEXT:
        raise Invalid(
            "format",
            "workbook",
            what="cell",
            maximum=MAX_TEXT,
            count=len(text),
            name=name,
            id=str(row.get("id")),
        )
    escaped = escape(_SPECIAL.sub(lambda match: f"_x{ord(match[0]):04X}_", text))
    return f'<c r="{place}" s="1" t="inlineStr"><is><t xml:space="preserve">{escaped}</t></is></c>'
