"""Workbooks: text stays text, numbers are numbers, and nothing is cut or left out."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaseq import transfer
from leaseq.errors import Invalid
from leaseq.models import Answer
from leaseq.transfer import workbooks

AT = datetime(2026, 11, 21, 10, 5, tzinfo=UTC)


def answer(payload: Any, result: Any = None, id: str = "one") -> Answer:
    return Answer(id, payload, result, "ann", 7, 1, AT, late=False)


def sheet(*answers: Answer, form: Any = None) -> list[dict[str, Any]]:
    """The cells of the workbook of these answers, as another program reads them: (value, type, format)."""
    stream = io.BytesIO()
    transfer.write(iter(answers), stream, "xlsx", form=form)
    (worksheet,) = openpyxl.load_workbook(stream).worksheets
    names, *rows = worksheet.iter_rows()
    return [
        {
            str(name.value): (cell.value, cell.data_type, cell.number_format)
            for name, cell in zip(names, row, strict=True)
        }
        for row in rows
    ]


@pytest.mark.parametrize(
    "text", ["=1+1", "007", "-5", "1e5", "@x", "'x", "TRUE", "2026-11-21", " a\n\tb ", '<&>"']
)
def test_text_is_text(text: str) -> None:
    ((row,),) = (sheet(answer({"a": text})),)
    assert row["payload.a"] == (text, "s", "@")


@pytest.mark.parametrize("number", [0, -5, 1.5, 1e-7, 999_999_999_999_999])
def test_number_is_a_number(number: float) -> None:
    (row,) = sheet(answer({"a": number}))
    assert row["payload.a"][:2] == (number, "n")


def test_other_values_have_the_cells_of_their_kind() -> None:
    (row,) = sheet(answer({"yes": True, "none": None, "deep": {"x": [1, "=a"]}, "large": 2**60}))
    assert row["payload.yes"][:2] == (True, "b")
    assert row["payload.none"][0] is None
    assert row["payload.deep"][:2] == ('{"x":[1,"=a"]}', "s")
    assert row["payload.large"][:2] == (str(2**60), "s"), "a spreadsheet would round it"
    assert (row["finished_at"][0], row["late"][0]) == ("2026-11-21T10:05:00.000Z", False)


def test_columns_are_those_of_other_tables() -> None:
    form = {"ask": {"type": "object", "properties": {"b": {}, "a": {}}}}
    first, second = sheet(answer({"x": 1}, {"a": 1}), answer({"y": 2}, {"c": 3}), form=form)
    assert list(first)[:7] == ["id", "payload.x", "payload.y", "result.b", "result.a", "result.c", "person"]
    assert (first["payload.y"][0], second["payload.y"][0], second["result.c"][0]) == (None, 2, 3)


unescape = workbooks.unescaped


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
    | st.sampled_from(["_x0041_", "a\rb"])
)
def test_any_text_is_kept(text: str) -> None:
    (row,) = sheet(answer({"a": text}))
    assert unescape(row["payload.a"][0]) == text


def test_text_that_is_too_long_is_refused_and_not_cut() -> None:
    longest = "x" * workbooks.MAX_TEXT
    assert sheet(answer({"a": longest}))[0]["payload.a"][0] == longest
    for text in (longest + "x", "\U0001f600" * (workbooks.MAX_TEXT // 2 + 1)):
        with pytest.raises(Invalid) as caught:
            sheet(answer({"a": text}, id="this one"))
        assert caught.value.field == "format"
        assert "payload.a of 'this one'" in str(caught.value)


def test_sheet_with_too_many_rows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "MAX_ROWS", 3)
    assert len(sheet(answer(1), answer(2))) == 2
    with pytest.raises(Invalid) as caught:
        sheet(answer(1), answer(2), answer(3))
    assert caught.value.field == "format"


def test_pieces_come_while_rows_are_written() -> None:
    read = 0

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal read
        for read in range(1, 20_001):  # counted outside
            yield {"id": f"{read * 7_919:x} {read * 104_729:x}"}

    next(workbooks.workbook(["id"], rows()))
    assert 0 < read < 20_000


@pytest.mark.parametrize("option", ["raw_cells", "bom"])
def test_options_of_text_tables_are_refused(option: str) -> None:
    with pytest.raises(Invalid) as caught:
        transfer.write((), io.BytesIO(), "xlsx", **{option: True})
    assert caught.value.field == option
