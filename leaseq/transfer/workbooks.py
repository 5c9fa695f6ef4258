"""Writes an xlsx workbook of one sheet, row by row in constant memory.

The libraries for this make the file only when all rows are known, in one step that takes seconds, and cut a
text that is too long: docs/decisions/0034-workbooks.md. This writes the few parts that a workbook needs with
`zipfile`. Text is written as text, so no cell is a formula, and ``007`` stays as it is.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from xml.sax.saxutils import escape

from leaseq.errors import Invalid
from leaseq.models import Json

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
    columns = [(name, _column_letters(number)) for number, name in enumerate(names, 1)]
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in _PARTS.items():
            archive.writestr(zipfile.ZipInfo(path), (_HEAD + text).encode(), zipfile.ZIP_DEFLATED)
        entry = zipfile.ZipInfo("xl/worksheets/sheet1.xml")
        entry.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(entry, "w") as sheet:
            sheet.write((_HEAD + _SHEET_HEAD + _row(1, columns, {name: name for name in names})).encode())
            for number, row in enumerate(rows, 2):
                if number > MAX_ROWS:
                    limit = f"at most {MAX_ROWS:,} rows in xlsx"
                    raise Invalid("format", limit, f"{limit}: export them as csv or jsonl")
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
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if len(text) > MAX_TEXT // 2 and len(text.encode("utf-16-le")) // 2 > MAX_TEXT:
        limit = f"at most {MAX_TEXT:,} characters in a cell of xlsx"
        fault = f"{name} of {row.get('id')!r} has {len(text):,}: export as csv or jsonl"
        raise Invalid("format", limit, f"{limit}; {fault}")
    escaped = escape(_SPECIAL.sub(lambda match: f"_x{ord(match[0]):04X}_", text))
    return f'<c r="{place}" s="1" t="inlineStr"><is><t xml:space="preserve">{escaped}</t></is></c>'


def _column_letters(number: int) -> str:
    letters = ""
    while number:
        number, place = divmod(number - 1, 26)
        letters = chr(ord("A") + place) + letters
    return letters
