"""Workbooks that are imported: their first sheet, as it was meant, and within limits."""

from __future__ import annotations

import io
import random
import zipfile
from contextlib import suppress
from datetime import date, datetime, time
from typing import Any, cast

import openpyxl
import pytest

from leaseq import transfer
from leaseq.errors import Invalid
from leaseq.transfer import BadRow, NewItem, workbooks
from tests.transfer.reads import summary
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


def cells(data: bytes) -> list[object]:
    rows = workbooks.Sheet(io.BytesIO(data)).records()
    return [row.value for row in rows]


def items(data: bytes, **options: Any) -> list[transfer.NewItem | transfer.BadRow]:
    return list(transfer.read(io.BytesIO(data), "xlsx", **options))


def test_cells_are_read_as_they_were_meant() -> None:
    data = workbook(
        ["text", "n", "x", "yes", "day", "at", "time", "empty"],
        ["007", 5, 1.5, True, date(2026, 11, 21), MORNING, time(10, 5), None],
        ['a "b", c\nd', -1, 2.0, False, None, MIDNIGHT, None, None, "beyond"],
        [None],
        ["x"],
    )
    assert cells(data) == [
        ["text", "n", "x", "yes", "day", "at", "time", "empty"],
        ["007", 5, 1.5, True, "2026-11-21", "2026-11-21T10:05:00", "10:05:00", ""],
        ['a "b", c\nd', -1, 2, False, "", "2026-11-21T00:00:00", "", "", "beyond"],
        [""] * 8,
        ["x", "", "", "", "", "", "", ""],
    ]


def test_export_reads_back() -> None:
    stream = io.BytesIO()
    payload = {"a": "=1", "b": "007", "c": "x\r\x01_x0041_", "d": -5, "e": True}
    transfer.write([answer(payload)], stream, "xlsx")
    header, row = cast("list[list[Any]]", cells(stream.getvalue()))
    assert [dict(zip(header, row, strict=False))[f"payload.{name}"] for name in payload] == [
        "=1", "007", "x\r\x01_x0041_", -5, True,
    ]  # fmt: skip


def refused(data: bytes) -> None:
    with pytest.raises(Invalid) as caught:
        list(workbooks.Sheet(io.BytesIO(data)).records())
    assert caught.value.field == "file"


def with_part(data: bytes) -> bytes:
    """A workbook with another part, which openpyxl does not read."""
    stream = io.BytesIO(workbook(["a"], ["b"]))
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/image1.bin", data)
    return stream.getvalue()


@pytest.mark.guard("workbook-expansion")
def test_workbook_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cells(with_part(b"0" * 10_000_000)) == [["a"], ["b"]]
    refused(with_part(b"0" * 30_000_000))
    data = workbook(["a"], ["b"])
    for limit in ("MAX_BYTES", "MAX_UNPACKED", "MAX_PART", "MAX_ROWS"):
        with monkeypatch.context() as patch:
            patch.setattr(workbooks, limit, 1)
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
def test_hostile_sheet_is_refused(rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "MAX_ROWS", 1_000)
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
            items(bytes(broken))


TYPED = workbook(
    ["ref", "code", "n", "mixed", "yes", "day", "list", "long"],
    ["r1", "007", 5, 1, True, date(2026, 11, 21), '["a"]', 2**60],
    ["r2", "8", 1.5, "A-2", False, None, "[]", None],
    ["r3", "9", None, None, None, date(2026, 11, 22), None, None],
)


def test_column_of_one_kind_of_values_has_values_and_text_stays_text() -> None:
    payloads = [cast("dict[str, Any]", item.payload) for item in items(TYPED) if isinstance(item, NewItem)]
    assert [tuple(payload.values()) for payload in payloads] == [
        ("r1", "007", 5, "1", True, "2026-11-21", ["a"], str(2**60)),
        ("r2", "8", 1.5, "A-2", False, "", [], ""),
        ("r3", "9", None, "", None, "2026-11-22", None, ""),
    ]


def test_columns_are_read_as_text_or_as_values_by_choice() -> None:
    choice = transfer.CellChoice(text=("n", "list"), value=("code",))
    first, second, _ = items(TYPED, cells=choice)
    assert isinstance(first, BadRow)
    assert (first.line, first.remedy) == (2, "cells")
    assert isinstance(second, NewItem)
    payload = cast("dict[str, Any]", second.payload)
    assert (payload["code"], payload["n"], payload["list"]) == (8, "1.5", "[]")
    first, *_ = items(TYPED, cells=transfer.CellChoice(raw=True))
    assert isinstance(first, NewItem)
    assert list(cast("dict[str, Any]", first.payload).values()) == [
        "r1", "007", "5", "1", "true", "2026-11-21", '["a"]', str(2**60),
    ]  # fmt: skip


def test_ids_priorities_and_skills_come_from_cells_of_any_type() -> None:
    data = workbook(["nr", "urgency", "until", "text"], [1001, 5, date(2026, 11, 21), "x"])
    (item,) = items(data, mapping=transfer.ColumnMapping(("text",), "nr", "urgency", "until"))
    assert isinstance(item, NewItem)
    assert (item.id, item.priority, item.payload) == ("1001", 5, {"text": "x"})
    assert item.due is not None


def test_sheet_that_is_read_is_named() -> None:
    book, stream = openpyxl.Workbook(), io.BytesIO()
    book.worksheets[0].title = "settings"
    book.worksheets[0].sheet_state = "hidden"
    for name in ("März", "other"):
        book.create_sheet(name).append([name])
    book.save(stream)
    stream.seek(0)
    rows = transfer.read(stream, "xlsx")
    assert list(rows) == []
    assert rows.summary is not None
    assert (rows.summary.sheet, rows.summary.sheets) == ("März", 2)
    assert summary(b"a\n1\n", "csv").sheet is None


def test_title_unnamed_column_and_long_row_are_reported_with_their_place() -> None:
    title = workbook(["Orders of May"], [], ["nr", "text"], [1, "x"])
    (problem,) = items(title)
    assert isinstance(problem, BadRow)
    assert (problem.line, problem.remedy) == (1, "header")
    (item,) = items(title, header_line=3)
    assert isinstance(item, NewItem)
    assert item.payload == {"nr": 1, "text": "x"}
    (unnamed,) = items(workbook(["a", "b"], [1, 2, None, "y"]))
    assert isinstance(unnamed, BadRow)
    assert "(D)" in unnamed.message
    wide, short = items(workbook(["a"], ["x" * 32_767] + ["y" * 32_767] * 340, ["z"]))
    assert isinstance(wide, BadRow)
    assert wide.too_large
    assert isinstance(short, NewItem)


def test_first_rows_are_read_again_and_again() -> None:
    data = workbook(["a"], *[[number] for number in range(30)])
    piece = transfer.first_rows(io.BytesIO(data), 10)
    assert (len(list(piece.rows)), piece.is_whole, piece.sheets) == (10, False, 2)
    assert transfer.first_rows(io.BytesIO(data), 31).is_whole
    for _ in range(2):
        assert len(list(transfer.read(piece, "xlsx"))) == 9
    with pytest.raises(Invalid):
        transfer.read(piece, "csv")


def test_rejected_rows_are_written_as_csv() -> None:
    rows = transfer.read(
        io.BytesIO(workbook(["id", "text", "n"], [None, 'a, "b"', 5])), "xlsx", id_field="id"
    )
    (row,) = rows
    stream = io.BytesIO()
    rejects = transfer.Rejects(stream, "csv")
    assert isinstance(row, BadRow)
    rejects.add(row, rows.head)
    lines = stream.getvalue().decode().splitlines()
    assert lines[0] == "rejected_line,rejected_reason,id,text,n"
    assert lines[1].endswith(',"a, ""b""",5')


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
