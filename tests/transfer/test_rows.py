"""Rows: a payload with an id of its own, or an envelope; and how the format is detected."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime

import pytest

from leaseq import transfer
from leaseq.transfer import BadRow, NewItem
from tests.support.refused import refused
from tests.transfer.reads import bad_rows, read


def test_id_is_read_from_a_field_and_the_row_stays_unchanged() -> None:
    assert read(b"iata,city\n00M,Bay\n", "csv", id_field="iata") == [
        NewItem({"iata": "00M", "city": "Bay"}, id="00M")
    ]
    assert read(b'{"n":12}', "jsonl", id_field="n") == [NewItem({"n": 12}, id="12")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (b'{"b":1}', "id: expected a field 'a', got a row without it"),
        (b"[1]", "id: expected an object with a field 'a'"),
        (b'{"a":""}', "a: expected 1 to 200 printable characters, got ''"),
        (b'{"a":"x\\ny"}', "a: expected 1 to 200 printable characters, got 'x\\ny', with U+000A"),
        (
            b'{"a":"x\\u00a0"}',
            "a: expected 1 to 200 printable characters, got 'x\\xa0', with U+00A0 (NO-BREAK SPACE)",
        ),
        (b'{"a":true}', "a: expected text or a whole number, got true"),
        (b'{"a":1.0}', "a: expected text or a whole number, got the number 1.0"),
        (b'{"a":null}', "a: expected text or a whole number, got null"),
        (b'{"a":[1]}', "a: expected text or a whole number, got the array [1]"),
    ],
)
def test_a_row_without_a_usable_id_is_bad(row: bytes, message: str) -> None:
    assert bad_rows(read(row, "jsonl", id_field="a")) == [(1, message)]


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        (b'{"text":"Great"}', ["payload: expected ", "'text'", '{"payload": {"text": …}}']),
        (b'{"payloads":1}', ["payload: expected ", "did you mean payload?"]),
        (b'{"id":"a"}', ["payload: expected "]),
        (b'{"payload":1,"prio":2}', ["prio: ", "did you mean priority?"]),
        (b'{"payload":1,"id":42}', ["id: ", "the number 42"]),
        (b"[1]", ["item: ", "the array [1]"]),
    ],
)
def test_bad_envelope_names_what_is_unknown_and_what_is_missing(row: bytes, parts: list[str]) -> None:
    ((_, message),) = bad_rows(read(row, "jsonl", envelope=True))
    assert [part for part in parts if part not in message] == []


def test_missing_id_column_is_reported_once() -> None:
    rows = read(b"b,c\n1,2\n3,4\n", "csv", id_field="a")
    (bad_row,) = rows
    assert isinstance(bad_row, BadRow)
    assert (bad_row.line, bad_row.error.values["what"]) == (1, "no_column")
    assert bad_row.error.values == {"what": "no_column", "name": "a", "names": ["b", "c"]}


def test_envelope_is_read_as_a_new_item() -> None:
    row = {
        "payload": {"a": 1},
        "id": "x",
        "priority": 5,
        "delay": 2.5,
        "requires": [],
        "due": "2026-11-21T10:05:00.123+02:00",
        "max_attempts": 7,
    }
    due = datetime(2026, 11, 21, 8, 5, 0, 123_000, tzinfo=UTC)
    assert read(json.dumps(row).encode(), "jsonl", envelope=True) == [
        NewItem({"a": 1}, id="x", priority=5, delay=2.5, due=due, max_attempts=7)
    ]
    at = '{"payload":1,"at":"2026-11-21T10:05:00.123+02:00"}'
    assert read(at.encode(), "jsonl", envelope=True) == [NewItem(1, at=due)]
    assert read(b'{"payload":null,"id":null}', "jsonl", envelope=True) == [NewItem(None)]


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ("[]", "item"),
        ("{}", "payload"),
        ('{"payload":1,"prio":1}', "prio"),
        ('{"payload":1,"id":5}', "id"),
        ('{"payload":1,"at":"tomorrow"}', "at"),
        ('{"payload":1,"at":"2026-11-21T10:05:00Z","delay":5}', "at"),
        ('{"payload":1,"priority":"high"}', "priority"),
        ('{"payload":1,"priority":-1}', "priority"),
        ('{"payload":1,"priority":1.5}', "priority"),
        ('{"payload":1,"delay":-1}', "delay"),
        ('{"payload":1,"delay":true}', "delay"),
        ('{"payload":1,"requires":"fr"}', "requires"),
        ('{"payload":1,"requires":["A B"]}', "requires"),
        ('{"payload":1,"requires":[1]}', "requires"),
        ('{"payload":1,"requires":[[]]}', "requires"),
        ('{"payload":1,"due":"tomorrow"}', "due"),
        ('{"payload":1,"due":"2026-11-21T10:05:00"}', "due"),
        ('{"payload":1,"due":5}', "due"),
        ('{"payload":1,"due":"0001-01-01T00:00:00+10:00"}', "due"),
        ('{"payload":1,"max_attempts":0}', "max_attempts"),
    ],
)
def test_invalid_envelope_is_reported_with_its_field(row: str, field: str) -> None:
    [bad_row] = read(row.encode(), "jsonl", envelope=True)
    assert isinstance(bad_row, BadRow)
    assert bad_row.message.startswith(f"{field}: ")


def test_incompatible_arguments_are_refused_immediately() -> None:
    with refused("file_format", "envelope", what="option", format="csv"):
        transfer.read(io.BytesIO(), "csv", envelope=True)
    with refused("not_together", "id_field", other="envelope"):
        transfer.read(io.BytesIO(), "jsonl", envelope=True, id_field="a")
    with refused("one_of", "format"):
        transfer.read(io.BytesIO(), "xml")


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.csv", "csv"),
        ("/x/B.CSV", "csv"),
        ("a.tsv", "tsv"),
        ("a.tab", "tsv"),
        ("a.json", "json"),
        ("a.b.jsonl", "jsonl"),
        ("a.ndjson", "jsonl"),
    ],
)
def test_format_is_detected_from_the_file_name(name: str, format: str) -> None:
    assert transfer.format_of(name) == format


@pytest.mark.parametrize("name", ["a", "a.txt", "csv", ".csv", "-"])
def test_file_name_without_a_known_format_is_refused(name: str) -> None:
    with refused("file_format", "format", what="name"):
        transfer.format_of(name)
