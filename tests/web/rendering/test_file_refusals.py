"""Every refusal of a file or of one of its rows is in German on German pages."""

from __future__ import annotations

import ast
import io
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any
from zoneinfo import ZoneInfo

import openpyxl
import pytest
from flask import Flask

from leaseq import Invalid, transfer, validation
from leaseq.transfer import BadRow, CellChoice, ColumnMapping, values, workbooks
from leaseq.transfer.encodings import MAX_ROW_BYTES
from leaseq.transfer.formats import MAX_COLUMNS
from leaseq.transfer.rows import FileItem
from leaseq.webapp.manage.importing.remarks import bad_row_message
from leaseq.webapp.rendering.refusals import in_words

FOLDER = Path(transfer.__file__).parent
REFUSING = {
    "BadRow",
    "Invalid",
    "TooLarge",
    "refusal",
    "_refusal",
    "_damaged",
    "_wrong_encoding",
    "_bad_record",
}
NOT_ON_PAGES = {  # what no choice on a page leads to, by file and function
    *("writing.py", "workbooks.py workbook", "workbooks.py _cell"),  # exports
    *("reading.py array_values", "reading.py read", "reading.py _bytes_of"),
    *("encodings.py _decoder", "encodings.py _unpacked", "encodings.py check_binary"),
    *("delimited.py _malformed", "rows.py __post_init__", "rows.py from_row", "workbooks.py _loaded"),
    *("formats.py period_of", "formats.py time_of"),
}


def workbook(rows: list[list[Any]]) -> bytes:
    book, stream = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.worksheets[0].append(row)
    book.save(stream)
    return stream.getvalue()


def zipped(name: str, data: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return stream.getvalue()


BERLIN = ZoneInfo("Europe/Berlin")
Case = tuple[str, bytes, dict[str, Any]]
TABLES: list[Case] = [
    ("csv", b"", {}),
    ("csv", b"\xff,b\n", {}),
    ("csv", b"a,b\n1\n", {}),
    ("csv", b"a,b\n1,2,3\n", {}),
    ("csv", b"a,b,\n1,2,3\n", {}),
    ("csv", b"1,2\n1\n", {"header_line": 0}),
    ("csv", b"a,a\n1,2\n", {}),
    ("csv", b"a,b\n1,2\n", {"mapping": ColumnMapping(id="x")}),
    ("csv", b"a,b;c\n1,2;3\n", {}),
    ("csv", b"sep=:\na:b\n", {}),
    ("csv", b'a,b\n"x\n', {}),
    ("csv", b'a,b\n"x"y,1\n', {}),
    ("csv", b"a,b\nx\ry,1\n", {}),
    ("csv", b"a\n\xff\n", {}),
    ("csv", b"a,b\nx\0,yyyyyyyyyyyyyyyy\n", {}),
    ("csv", b"a\n" + b"x" * (MAX_ROW_BYTES + 1) + b"\n", {}),
    ("csv", b'a\n"' + b"xxxxxxxxx\n" * (MAX_ROW_BYTES // 10 + 1), {}),
    ("csv", b"a\n" + b"," * (MAX_COLUMNS + 1) + b"\n", {}),
    ("csv", b"My sites,\n,\ncity,site\nA,x\nB,y\n", {}),
    ("csv", b"n\nx\n", {"cells": CellChoice(value=["n"])}),
    ("csv", b"id,x\n.,1\na/../b,2\n,3\n", {"mapping": ColumnMapping(id="id")}),
    ("csv", b"p\nhigh\n1e99\n", {"mapping": ColumnMapping(priority="p")}),
    (
        "csv",
        b"due\nsoon\n3/4/2026\n2026-99-99\n0001-01-01\n2026-11-21T1\n",
        {"mapping": ColumnMapping(due="due")},
    ),
    ("csv", b"due\n12/31/2026\n", {"mapping": ColumnMapping(due="due", dates="day-first")}),
    ("csv", b"due\n31/12/2026\n", {"mapping": ColumnMapping(due="due", dates="month-first")}),
    (
        "csv",
        b"due\n2026-03-29T02:30\n0001-01-01\n0001-01-01T00:00\n",
        {"mapping": ColumnMapping(due="due", zone=BERLIN)},
    ),
    ("csv", b"skills\nNo-Good!\n", {"mapping": ColumnMapping(requires="skills")}),
]
LATE_CELLS: list[Case] = [
    ("csv", b"n\n1\n2\n3\nx\n", {}),
    ("csv", b"n\ntrue\nfalse\ntrue\nx\n", {}),
    ("csv", b"n\n[]\n{}\n[]\nx\n", {}),
]
ROWS: list[Case] = [
    ("json", b"{\n1", {}),
    ("json", b"[1, 2", {}),
    ("json", b"[1] 2", {}),
    ("json", b"[01]", {}),
    ("json", b'["' + b"x" * MAX_ROW_BYTES + b'"]', {}),
    ("jsonl", b'"' + b"x" * MAX_ROW_BYTES + b'"\n', {}),
    ("jsonl", b'"' + b"x" * validation.MAX_JSON_BYTES + b'"\n', {}),
    ("jsonl", b"{\n", {}),
    ("jsonl", b"\xff\n", {}),
    ("jsonl", b"NaN\n1e999\n" + b"1" * 9_999 + b"\n", {}),
    ("jsonl", b'{"a": 1, "a": 2}\n"\\ud800"\n' + b"[" * 999 + b"]" * 999 + b"\n", {}),
    ("jsonl", b"5\n", {"mapping": ColumnMapping(id="id")}),
    ("jsonl", b'{"a": 1}\n{"id": null}\n{"id": " "}\n', {"mapping": ColumnMapping(id="id")}),
    ("jsonl", b'{"due": 5}\n', {"mapping": ColumnMapping(due="due")}),
    ("jsonl", b'{"skills": 5}\n{"skills": ["A b"]}\n', {"mapping": ColumnMapping(requires="skills")}),
    ("jsonl", b'5\n{"id": "x"}\n{"a": 1}\n{"a": 1, "b": 2}\n{"payloda": 1}\n', {"envelope": True}),
    ("jsonl", b'{"payload": 1, "idd": "x"}\n{"payload": 1, "zzz": "x"}\n', {"envelope": True}),
    ("jsonl", b'{"payload": 1, "due": "soon"}\n{"payload": 1, "priority": "x"}\n', {"envelope": True}),
    ("jsonl", b'{"payload": 1, "requires": 5}\n{"payload": 1, "id": ""}\n', {"envelope": True}),
]
FILES: list[Case] = [
    ("csv", b"a\n\x81\xff\n", {"encoding": "shift_jis"}),
    ("csv", b"a\n1\n", {"encoding": "utf-16"}),
    ("xlsx", b"no workbook", {}),
    ("xlsx", zipped("other.xml", b""), {}),
    ("xlsx", zipped("xl/worksheets/sheet1.xml", b"0" * 40_000_000), {}),
]


def refusals(cases: list[Case]) -> Iterator[tuple[Any, BadRow | Invalid]]:
    for format, data, options in cases:
        case = (format, data[:60], options)
        try:
            bad_rows = [
                row for row in transfer.read(io.BytesIO(data), format, **options) if isinstance(row, BadRow)
            ]
        except Invalid as error:
            yield case, error
        else:
            assert bad_rows, case
            yield from ((case, row) for row in bad_rows)


def file_refusals() -> Iterator[tuple[Any, BadRow | Invalid]]:
    yield from refusals(FILES)
    for name in ("rows.xls", "rows.parquet", "https://x/rows", "rows"):
        with pytest.raises(Invalid) as refused:
            transfer.format_of(name)
        yield name, refused.value
    with pytest.raises(Invalid) as refused:
        transfer.read(io.BytesIO(), "csv", envelope=True)
    yield "envelope", refused.value
    yield "conflict", FileItem({}, id="7").conflict()


def workbook_refusals(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, BadRow | Invalid]]:
    data = workbook([["a", "b", None], [1, 2, 3], ["x", "y", "z"]])
    yield from refusals([("xlsx", data, {})])
    with monkeypatch.context() as patch:
        patch.setattr(workbooks, "MAX_COLUMNS", 2)
        yield from refusals([("xlsx", data, {})])
    monkeypatch.setattr(workbooks, "MAX_ROW_BYTES", 2)
    yield from refusals([("xlsx", data, {})])
    monkeypatch.setattr(workbooks, "MAX_ROWS", 2)
    yield from refusals([("xlsx", data, {})])
    monkeypatch.setattr(workbooks, "MAX_BYTES", 10)
    yield from refusals([("xlsx", data, {})])


def message(refusal: BadRow | Invalid) -> str:
    return bad_row_message(refusal) if isinstance(refusal, BadRow) else in_words(refusal)


def places() -> dict[str, set[tuple[str, int]]]:
    """The lines of each statement of `leaseq.transfer` that refuses something, except NOT_ON_PAGES."""
    found: dict[str, set[tuple[str, int]]] = {}
    for file in FOLDER.glob("*.py"):
        for function in ast.walk(ast.parse(file.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            if {file.name, f"{file.name} {function.name}"} & NOT_ON_PAGES:
                continue
            for statement in ast.walk(function):
                if not isinstance(statement, ast.Return | ast.Raise | ast.Expr | ast.Assign):
                    continue
                calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
                names = {getattr(call, "id", getattr(call, "attr", "")) for call in calls}
                if names & REFUSING:
                    lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
                    found[f"{file.name} {function.name}:{statement.lineno}"] = {(str(file), n) for n in lines}
    return found


@pytest.fixture
def run_lines() -> Iterator[set[tuple[str, int]]]:
    """The lines of `leaseq.transfer` that run during the test."""
    lines: set[tuple[str, int]] = set()

    def trace(frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        if not frame.f_code.co_filename.startswith(str(FOLDER)):
            return None
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    yield lines
    sys.settrace(before)


def test_every_refusal_of_a_file_is_translated(
    app: Flask, run_lines: set[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    all_refusals = [*refusals([*TABLES, *ROWS]), *file_refusals(), *workbook_refusals(monkeypatch)]
    monkeypatch.setattr(values, "SPOOL_BYTES", 100)
    all_refusals += refusals(LATE_CELLS)
    missing = [place for place, lines in places().items() if not lines & run_lines]
    assert missing == [], f"no case above leads to {missing}"
    english: list[tuple[Any, str]] = []
    for case, refusal in all_refusals:
        with app.test_request_context(headers={"Accept-Language": "en"}):
            text = message(refusal)
        with app.test_request_context(headers={"Accept-Language": "de"}):
            if message(refusal) == text:
                english.append((case, text))
    assert english == []
