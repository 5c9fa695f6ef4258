"""Output: the shape of an answer in each format."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from leaseq import transfer
from leaseq.errors import Invalid
from leaseq.models import Answer
from leaseq.transfer import writing
from leaseq.transfer.rows import MAX_COLUMNS, compact_json
from tests.support.refused import refused

AT = datetime(2026, 11, 21, 10, 5, 0, 123_456, tzinfo=UTC)
SHAPE = {
    "id": "i1",
    "payload": {"text": "h\u00e9 \u20ac", "n": -1.5, "deep": {"x": [1, None]}},
    "result": {"ok": True, "note": None},
    "person": "alice",
    "token": 7,
    "attempt": 2,
    "finished_at": "2026-11-21T10:05:00.123Z",
    "late": False,
    "reserved_at": "2026-11-21T10:04:17.623Z",
    "seconds": 42.5,
    "changed": ["ok", "note"],
}


def answer(**changes: Any) -> Answer:
    start = AT - timedelta(seconds=42.5)
    fields: dict[str, Any] = {**SHAPE, "finished_at": AT, "reserved_at": start, **changes}
    fields["changed"] = tuple(fields["changed"])
    del fields["seconds"]
    return Answer(**fields)


def write_text(format: str, *answers: Answer, **options: Any) -> str:
    stream = io.BytesIO()
    transfer.write(iter(answers), stream, format, **options)
    return stream.getvalue().decode()


def table(format: str, *answers: Answer, **options: Any) -> list[list[str]]:
    text = write_text(format, *answers, **options)
    return list(csv.reader(io.StringIO(text, newline=""), delimiter="," if format == "csv" else "\t"))


def test_a_time_is_utc_with_milliseconds() -> None:
    time_elsewhere = AT.replace(microsecond=0).astimezone(timezone(timedelta(hours=-9)))
    assert transfer.rfc3339(AT) == "2026-11-21T10:05:00.123Z"
    assert transfer.rfc3339(time_elsewhere) == "2026-11-21T10:05:00.000Z"


def test_jsonl_has_one_answer_per_line() -> None:
    lines = write_text("jsonl", answer(), answer(id="i2", late=True)).splitlines()
    assert [json.loads(line) for line in lines] == [SHAPE, {**SHAPE, "id": "i2", "late": True}]
    assert "h\u00e9 \u20ac" in lines[0]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_json_is_one_array(count: int) -> None:
    text = write_text("json", *[answer()] * count)
    assert json.loads(text) == [SHAPE] * count
    assert text.endswith("]\n")


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_a_table_flattens_objects_by_one_level(format: str) -> None:
    assert table(format, answer()) == [
        [
            "id",
            "payload.text",
            "payload.n",
            "payload.deep",
            "result.ok",
            "result.note",
            "person",
            "token",
            "attempt",
            "finished_at",
            "late",
            "reserved_at",
            "seconds",
            "changed",
        ],
        [
            "i1",
            "hé €",
            "-1.5",
            '{"x":[1,null]}',
            "true",
            "",
            "alice",
            "7",
            "2",
            "2026-11-21T10:05:00.123Z",
            "false",
            "2026-11-21T10:04:17.623Z",
            "42.5",
            '["ok","note"]',
        ],
    ]


def test_table_has_the_columns_of_all_its_rows() -> None:
    rows = table(
        "csv",
        answer(payload={"a": 1}, result="plain"),
        answer(payload={"b": 'x,"y"\nz'}, result={}),
        answer(payload=[1], result=None),
    )
    assert rows[0][:6] == ["id", "payload.a", "payload.b", "payload", "result", "person"]
    assert [row[1:5] for row in rows[1:]] == [
        ["1", "", "", "plain"],
        ["", 'x,"y"\nz', "", ""],
        ["", "", "[1]", ""],
    ]


def test_table_without_answers_has_a_header() -> None:
    fields = ["id", "person", "token", "attempt", "finished_at", "late", "reserved_at", "seconds", "changed"]
    assert table("csv") == [fields]


FORM = {
    "ask": {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}, "note": {"type": "string"}, "why": {"type": "object"}},
    }
}


@pytest.mark.parametrize("results", [[], [{"note": "x", "old": 1}, {"why": {"n": 1}}], ["plain"]])
def test_result_columns_are_the_questions_of_the_form_in_its_order(results: list[Any]) -> None:
    rows = table("csv", *(answer(result=result) for result in results), form=FORM)
    columns = [name for name in rows[0] if name.startswith("result")]
    assert columns[:3] == ["result.kind", "result.note", "result.why"]
    assert columns[3:] == (["result.old"] if len(results) == 2 else ["result"] if results else [])


@pytest.mark.parametrize("form", [{}, {"show": []}, {"ask": True}, {"ask": {"type": "object"}}])
def test_form_without_questions_adds_no_column(form: Any) -> None:
    assert table("csv", answer(), form=form) == table("csv", answer())


def test_start_and_duration_are_empty_if_not_known() -> None:
    unknown = answer(reserved_at=None)
    assert json.loads(write_text("jsonl", unknown)) == {**SHAPE, "reserved_at": None, "seconds": None}
    assert table("csv", unknown)[1][-3:-1] == ["", ""]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\tx", "'\tx"),
        ("\r=1", "'\r=1"),
        ("-", "'-"),
        ("+1 555", "'+1 555"),
        ("-12", "-12"),
        ("-12\n", "'-12\n"),
        ("+1.5e-7", "+1.5e-7"),
        ("a=1", "a=1"),
        ("\n=1", "'\n=1"),
        ("＝1+1", "'＝1+1"),
        ("＋1", "'＋1"),
        ("－1", "'－1"),
        ("＠SUM(A1)", "'＠SUM(A1)"),
        ("a;=1+1", "a;=1+1"),
        ("so, @ann and -- well, -1", "so, @ann and -- well, -1"),
        ("a\t=1", "a\t=1"),
        ("49.5,-122.3", "49.5,-122.3"),
        ("'=1", "''=1"),
        ("''-x", "'''-x"),
        ("'-5", "''-5"),
        ("'quoted'", "'quoted'"),
        ("'", "'"),
        ("", ""),
    ],
)
@pytest.mark.guard("cell-formula")
def test_spreadsheet_formula_in_a_cell_gets_an_apostrophe(text: str, cell: str) -> None:
    # Any typed text can contain it: the id, the person and every field.
    rows = table("csv", answer(id=text or "x", person=text or "x", payload={"a": text}, result=text))
    assert rows[1][1:3] == [cell, cell]
    assert rows[1][0] == rows[1][3] == (cell or "x")


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_raw_cells_have_no_apostrophe(format: str) -> None:
    deep = {"x": "a;=1+1", "k|@y": ["=1", -3]}
    rows = table(format, answer(payload={"a": "=1+1", "b": "'=1", "deep": deep}, result="@x"), raw_cells=True)
    assert rows[1][1:3] == ["=1+1", "'=1"]
    assert (json.loads(rows[1][3]), rows[1][4]) == (deep, "@x")


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_json_of_a_cell_is_not_changed(format: str) -> None:
    deep = {"x": "a;=1+1", "k|@y": ["a,+1", "\\;-1", -3, [1, -2]], "z": "a=1"}
    assert table(format, answer(payload={"deep": deep}))[1][1] == compact_json(deep)


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_table_begins_with_a_byte_order_mark_by_choice(format: str) -> None:
    assert write_text(format, answer(), bom=True) == "\ufeff" + write_text(format, answer())


@pytest.mark.parametrize("format", ["json", "jsonl"])
@pytest.mark.parametrize("option", ["bom", "raw_cells"])
def test_options_of_text_tables_are_refused_for_others(format: str, option: str) -> None:
    with pytest.raises(Invalid) as caught:
        write_text(format, answer(), **{option: True})
    assert caught.value.field == option


def test_table_with_too_many_columns_is_refused_and_jsonl_suggested() -> None:
    wide_answers = (
        answer(payload={f"{row}-{n}": 1 for n in range(100)}) for row in range(MAX_COLUMNS // 100 + 1)
    )
    with refused("maximum", what="table_columns"):
        transfer.write(wide_answers, io.BytesIO(), "csv")


def test_column_limit_of_a_table_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = len(table("csv", answer())[0])
    monkeypatch.setattr(writing, "MAX_COLUMNS", columns)
    assert len(table("csv", answer())[0]) == columns
    monkeypatch.setattr(writing, "MAX_COLUMNS", columns - 1)
    with refused("maximum", what="table_columns"):
        table("csv", answer())


def test_an_unknown_format_is_refused_at_once() -> None:
    with refused("one_of", "format"):
        transfer.encode(iter(()), "xml")


def test_a_stream_of_text_is_refused() -> None:
    with refused("type", "stream", what="stream", mode="wb"):
        transfer.write((), io.StringIO(), "csv")  # type: ignore[arg-type]
