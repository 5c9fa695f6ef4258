"""Columns mapped to the parts of an item: their values, and errors for cells that don't fit."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from leaseq import transfer
from leaseq.transfer import BadRow, ColumnMapping, NewItem
from tests.support.refused import refused
from tests.transfer.reads import bad_rows, read

ALL = ColumnMapping(("text",), id="nr", priority="how", due="by", requires="for")


def test_columns_are_mapped_to_fields_of_the_item() -> None:
    table = b"nr,text,how,by,for,rest\n7,hello,20,2026-11-21,fr legal,x\n8,bye,,,,x\n"
    assert read(table, "csv", mapping=ALL) == [
        NewItem(
            {"text": "hello"},
            id="7",
            priority=20,
            due=datetime(2026, 11, 21, tzinfo=UTC),
            requires=("fr", "legal"),
        ),
        NewItem({"text": "bye"}, id="8"),
    ]
    line = b'{"nr": 7, "text": [1], "how": 20.0, "by": "2026-11-21T10:00:00+02:00", "for": ["fr"], "rest": 1}'
    assert read(line, "jsonl", mapping=ALL) == [
        NewItem(
            {"text": [1]}, id="7", priority=20, due=datetime(2026, 11, 21, 8, tzinfo=UTC), requires=("fr",)
        )
    ]


@pytest.fixture
def time_zone_behind_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set the machine's time zone to nine hours behind UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC+9")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("time_zone_behind_utc")
def test_time_without_zone_is_read_as_utc() -> None:
    rows = read(b"nr,by\n7,2026-11-21\n8,2026-11-21T10:05\n", "csv", mapping=ColumnMapping(id="nr", due="by"))
    midnight = datetime(2026, 11, 21, tzinfo=UTC)
    assert [row.due for row in rows if isinstance(row, NewItem)] == [
        midnight,
        midnight + timedelta(hours=10, minutes=5),
    ]


def test_payload_columns_must_be_a_list() -> None:
    with refused("type", "payload", what="columns"):
        ColumnMapping(payload="text")


def test_payload_is_the_whole_row_if_no_columns_are_mapped_to_it() -> None:
    assert read(b"a,b\n1,2\n", "csv", mapping=ColumnMapping(id="a")) == [
        NewItem({"a": "1", "b": "2"}, id="1")
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"how": "high"}, "how: expected a whole number from 0 to 1,000,000, got 'high'"),
        ({"how": "-1"}, "how: expected a whole number from 0 to 1,000,000, got '-1'"),
        ({"how": True}, "how: expected a whole number from 0 to 1,000,000, got true"),
        ({"by": "soon"}, "by: expected a time like 2026-11-21T10:05:00Z, or a date, got 'soon'"),
        ({"by": 3}, "by: expected a time like 2026-11-21T10:05:00Z, or a date, got the number 3"),
        (
            {"for": "N!"},
            "for: expected at most 16 skills, each 1 to 64 characters of a-z 0-9 . _ -, got the array ['N!']",
        ),
        ({"nr": ""}, "nr: expected 1 to 200 printable characters, got ''"),
    ],
)
def test_invalid_cell_is_reported_with_its_row(row: dict[str, object], message: str) -> None:
    import json

    full_row = {"nr": "1", "text": "x", **row}
    (bad_row,) = read(json.dumps(full_row).encode(), "jsonl", mapping=ALL)
    assert isinstance(bad_row, BadRow)
    assert (bad_row.line, bad_row.fault, bad_row.value) == (1, message, full_row)


def test_missing_column_is_reported_once() -> None:
    assert bad_rows(read(b"nr,text\n1,x\n2,y\n", "csv", mapping=ColumnMapping(priority="how"))) == [
        (1, "the header has no column 'how'; it has nr, text")
    ]


def test_row_without_fields_is_reported() -> None:
    assert bad_rows(read(b"1\n", "jsonl", mapping=ColumnMapping(id="a"))) == [
        (1, "expected an object with named fields")
    ]


def test_mapping_and_id_field_together_are_refused() -> None:
    with refused("not_together", "mapping"):
        transfer.read(None, "csv", id_field="a", mapping=ColumnMapping())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "format", "value"),
    [
        (b"a,b\n1\n", "csv", ["1"]),
        (b"a,b\n1,\xff\n", "csv", ["1", "\ufffd"]),
        (b"{\n", "jsonl", "{\n"),
    ],
)
def test_bad_row_contains_its_original_value(data: bytes, format: str, value: object) -> None:
    (row,) = read(data, format)
    assert isinstance(row, BadRow)
    assert row.value == value


@pytest.mark.parametrize(
    ("text", "dates", "due"),
    [
        ("31/12/2026", "day-first", "2026-12-31T00:00"),
        ("3/4/2026", "day-first", "2026-04-03T00:00"),
        ("3/4/2026", "month-first", "2026-03-04T00:00"),
        ("12-31-2026 9:30", "month-first", "2026-12-31T09:30"),
        ("3.4.2026", None, "2026-04-03T00:00"),
        ("3.4.2026", "month-first", "2026-04-03T00:00"),
        ("3/4/2026", None, None),
        ("31/12/2026", None, None),
        ("31/12/2026", "month-first", None),
        ("31/02/2026", "day-first", None),
        ("13.13.2026", None, None),
    ],
)
def test_due_date_in_numbers_is_read_in_the_chosen_order(
    text: str, dates: transfer.Dates | None, due: str | None
) -> None:
    rows = read(f"due\n{text}\n".encode(), "csv", mapping=ColumnMapping(due="due", dates=dates))
    assert [line for line, _ in bad_rows(rows)] == ([2] if due is None else [])
    found = [row.due for row in rows if isinstance(row, transfer.NewItem)]
    assert found == ([] if due is None else [datetime.fromisoformat(f"{due}:00+00:00")])
