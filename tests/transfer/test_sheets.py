"""Workbooks that are imported: their first sheet, as it was meant, and within limits."""

from __future__ import annotations

import csv
import io
import random
import zipfile
from contextlib import suppress
from datetime import date, datetime, time
from typing import Any

import openpyxl
import pytest

from leaseq import transfer
from leaseq.errors import Invalid
from leaseq.transfer import sheets
from tests.transfer.test_workbooks import answer

MIDNIGHT = datetime(2026, 11, 21)  # noqa: DTZ001  # a spreadsheet knows no zones
MORNING = datetime(2026, 11, 21, 10, 5)  # noqa: DTZ001


def workbook(*rows: list[Any]) -> bytes:
    book, stream = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.worksheets[0].append(row)
    book.create_sheet("other").append(["not read"])
    book.save(stream)
    return stream.getvalue()


def cells(data: bytes) -> list[list[str]]:
    text = sheets.sheet_csv(io.BytesIO(data)).read().decode()
    return list(csv.reader(io.StringIO(text, newline="")))


def test_cells_are_read_as_they_were_meant() -> None:
    data = workbook(
        ["text", "n", "x", "yes", "day", "at", "time", "empty"],
        ["007", 5, 1.5, True, date(2026, 11, 21), MORNING, time(10, 5), None],
        ['a "b", c\nd', -1, 2.0, False, None, MIDNIGHT, None, "beyond"],
        [None],
        ["x"],
    )
    assert cells(data) == [
        ["text", "n", "x", "yes", "day", "at", "time", "empty"],
        ["007", "5", "1.5", "true", "2026-11-21", "2026-11-21T10:05:00", "10:05:00", ""],
        ['a "b", c\nd', "-1", "2", "false", "", "2026-11-21T00:00:00", "", "beyond"],
        [],
        ["x", "", "", "", "", "", "", ""],
    ]


def test_export_reads_back() -> None:
    stream = io.BytesIO()
    payload = {"a": "=1", "b": "007", "c": "x\r\x01_x0041_", "d": -5, "e": True}
    transfer.write([answer(payload)], stream, "xlsx")
    header, row = cells(stream.getvalue())
    assert [dict(zip(header, row, strict=False))[f"payload.{name}"] for name in payload] == [
        "=1", "007", "x\r\x01_x0041_", "-5", "true",
    ]  # fmt: skip


def refused(data: bytes) -> None:
    with pytest.raises(Invalid) as caught:
        sheets.sheet_csv(io.BytesIO(data)).read()
    assert caught.value.field == "file"


def packed(**parts: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return stream.getvalue()


def test_workbook_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    refused(packed(bomb=b"0" * 20_000_000))
    data = workbook(["a"], ["b"])
    for limit in ("MAX_BYTES", "MAX_UNPACKED", "MAX_PART", "MAX_ROWS"):
        with monkeypatch.context() as patch:
            patch.setattr(sheets, limit, 1)
            refused(data)
    assert cells(data) == [["a"], ["b"]]


def with_sheet(text: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook(["a"]))) as source, zipfile.ZipFile(stream, "w") as archive:
        for name in source.namelist():
            is_sheet = name == "xl/worksheets/sheet1.xml"
            archive.writestr(name, text.encode() if is_sheet else source.read(name))
    return stream.getvalue()


SHEET = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>%s</sheetData></worksheet>'


@pytest.mark.parametrize(
    "rows",
    [
        '<row r="99999999999"><c r="A1"><v>1</v></c></row>',
        '<row r="1"><c r="ZZZZZZZ1"><v>1</v></c></row>',
        "<row",
    ],
)
def test_hostile_sheet_is_refused(rows: str) -> None:
    refused(with_sheet(SHEET % rows))


def test_entities_do_not_expand() -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    text = f'<!DOCTYPE x [<!ENTITY e0 "xxxxxxxxxx">{entities}]>'
    refused(with_sheet(text + SHEET % '<row r="1"><c r="A1" t="inlineStr"><is><t>&e9;</t></is></c></row>'))


def test_damaged_workbook_is_refused_or_read() -> None:
    data, rng = workbook(["a", "b"], [1, "x"]), random.Random(7)
    for _ in range(150):
        broken = bytearray(data)
        for _ in range(rng.randint(1, 6)):
            broken[rng.randrange(4, len(broken))] = rng.randrange(256)
        with suppress(Invalid):  # any other error fails
            sheets.sheet_csv(io.BytesIO(bytes(broken))).read()


def test_rows_become_items() -> None:
    data = workbook(["id", "text"], ["007", "x"], [8, "two\nlines"])
    rows = list(transfer.read(io.BytesIO(data), "xlsx", id_field="id"))
    assert [(row.id, row.payload["text"]) for row in rows if isinstance(row, transfer.NewItem)] == [
        ("007", "x"),
        ("8", "two\nlines"),
    ]
    for options in ({"delimiter": ","}, {"quotes": "none"}, {"envelope": True}):
        with pytest.raises(Invalid):
            transfer.read(io.BytesIO(data), "xlsx", **options)
