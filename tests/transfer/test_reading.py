"""Input formats: what is read, what is refused, and the messages."""

from __future__ import annotations

import io
from typing import Any

import pytest

from leaseq import transfer
from leaseq.transfer.encodings import MAX_ROW_BYTES
from leaseq.transfer.rows import REMEDIES, BadRow
from tests.support.refused import refused
from tests.transfer.reads import bad_rows, payloads, read

BOM = b"\xef\xbb\xbf"
AB = [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]


@pytest.mark.parametrize(
    ("format", "data"),
    [
        ("csv", b"a,b\n1,2\n3,4\n"),
        ("csv", BOM + b"a,b\r\n1,2\r\n3,4"),
        ("csv", b'a,b\n\n"1","2"\n\n3,4\n\n'),
        ("tsv", b"a\tb\n1\t2\n3\t4\n"),
        ("jsonl", b'{"a":"1","b":"2"}\n{"a":"3","b":"4"}\n'),
        ("jsonl", BOM + b'{"a":"1","b":"2"}\r\n\r\n {"a":"3","b":"4"} '),
        ("json", b'[{"a":"1","b":"2"},{"a":"3","b":"4"}]'),
        ("json", BOM + b' [\n{"a":"1",\n"b":"2"}\n,\n{"a":"3","b":"4"}\n]\n '),
    ],
)
def test_each_format_reads_the_same_rows(format: str, data: bytes) -> None:
    assert payloads(read(data, format)) == AB
    assert bad_rows(read(data, format)) == []


def test_a_csv_cell_keeps_its_line_breaks_quotes_and_spaces() -> None:
    rows = read(b'a,b\n"x\r\ny","say ""hi"""\n p ,\n', "csv")
    assert payloads(rows) == [{"a": "x\r\ny", "b": 'say "hi"'}, {"a": " p ", "b": ""}]


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_header_alone_gives_no_rows(format: str) -> None:
    assert read(b"a\n", format) == []


@pytest.mark.parametrize(
    ("format", "data"), [("json", b"[]"), ("json", b" [ \n ] "), ("jsonl", b""), ("jsonl", b"\n")]
)
def test_empty_array_or_file_gives_no_rows(format: str, data: bytes) -> None:
    assert read(data, format) == []


@pytest.mark.parametrize(
    ("format", "data", "also"),
    [
        ("csv", b"a,b\n1,2\n3,4\n", ()),
        ("tsv", b"a\tb\r\n1\t2\r\n3\t4\r\n", ("return",)),
        ("jsonl", b'{"a":"1","b":"2"}\n{"a":"3","b":"4"}\n', ()),
        ("json", b'[{"a":"1","b":"2"},\n{"a":"3","b":"4"}]\n', ("array", "after_array")),
    ],
)
def test_stray_nul_is_reported_and_spoils_no_other_row(
    format: str, data: bytes, also: tuple[str, ...]
) -> None:
    for at in range(len(data) + 1):
        rows = read(data[:at] + b"\0" + data[at:], format)
        assert payloads(rows) in ([], AB, AB[:1], AB[1:]), at
        (bad_row,) = [row for row in rows if isinstance(row, BadRow)]
        assert bad_row.error.values["what"] in ("nul", *also), at


TWICE = (
    f"the header names the column 'a' twice: rename one of the columns 1 (A) and 2 (B): {REMEDIES['header']}"
)
NOT_TEXT = f"not UTF-8 text: {REMEDIES['encoding']}"
THREE_OF_TWO = "expected as many columns as the header has (2), got 3 (separated by commas)"
AS_TEXT = ": to read quotes as text, use --quotes none"
OPEN_TOO_LONG = "a quote opens in this row and does not close within 2,097,152 bytes"
OPEN = f"a quote opens in this row and does not close{AS_TEXT}"

BAD_TABLES = [
    pytest.param(b"", [(1, "the file is empty; its first row must name the columns")], [], id="empty"),
    pytest.param(
        b"a,b\n1\n2,3,4\n5,6\n",
        [
            (2, "expected as many columns as the header has (2), got 1 (separated by commas)"),
            (3, "expected as many columns as the header has (2), got 3 (separated by commas)"),
        ],
        [{"a": "5", "b": "6"}],
        id="wrong number of columns",
    ),
    pytest.param(
        b"a,a\n1,2\n",
        [(1, TWICE)],
        [],
        id="column named twice",
    ),
    pytest.param(
        b"," * 16_384 + b"\n1\n",
        [(1, "the header can't be read: expected a row of at most 16,384 columns, got 16,385")],
        [],
        id="too many columns",
    ),
    pytest.param(b"\xff,b\n1,2\n", [(1, f"the header can't be read: {NOT_TEXT}")], [], id="header not UTF-8"),
    pytest.param(b"a\nx\n\xe9t\xe9\ny\n", [(3, NOT_TEXT)], [{"a": "x"}, {"a": "y"}], id="not UTF-8"),
    pytest.param(
        b'a,b\n"x\n\xe9",1\n2,3\n',
        [(3, f"{NOT_TEXT} (lines 2 to 3 are left out)")],
        [{"a": "2", "b": "3"}],
        id="not UTF-8 in a cell's second line",
    ),
    pytest.param(b"a\nx\0\ny\n", [(2, "a NUL byte; is this file UTF-8 text?")], [{"a": "y"}], id="NUL"),
    pytest.param(
        b"a,b\n1,2\r3,4\n5,6\n",
        [(2, "a bare carriage return; lines end with LF or CRLF")],
        [{"a": "5", "b": "6"}],
        id="bare CR",
    ),
    pytest.param(
        b'a,b\n"x"y,2\n5,6\n',
        [(2, "text follows a quote that closes in this row: to read quotes as text, use --quotes none")],
        [{"a": "5", "b": "6"}],
        id="text after a quote",
    ),
    pytest.param(
        b'a,b\n1,2\n"x,2\n5,6\n',
        [(3, f"{OPEN} (lines 3 to 4 are left out)")],
        [{"a": "1", "b": "2"}],
        id="open quote",
    ),
    pytest.param(b'a,b\n1,2\n"x,2', [(3, OPEN)], [{"a": "1", "b": "2"}], id="open quote in the last line"),
    pytest.param(
        b'a,b\n1,"x\n2"\n3,"x\n"4,5\n6,7\n',
        [(4, f"text follows a quote that closes in this row{AS_TEXT} (lines 4 to 5 are left out)")],
        [{"a": "1", "b": "x\n2"}, {"a": "6", "b": "7"}],
        id="text after a quote opened on the line before",
    ),
    pytest.param(
        b'a,b\n1,"x\n2",3\n6,7\n',
        [
            (
                2,
                f"{THREE_OF_TWO}{AS_TEXT} (lines 2 to 3 are left out)",
            )
        ],
        [{"a": "6", "b": "7"}],
        id="wrong number of columns over several lines",
    ),
    pytest.param(
        b"a\n" + b"x" * 262_143 + b"\ny\n",
        [(2, "payload: expected at most 262,144 bytes of JSON, got 262,151")],
        [{"a": "y"}],
        id="payload too long",
    ),
    pytest.param(
        b"a\n" + b"x" * (3 * MAX_ROW_BYTES) + b"\ny\n",
        [(2, "expected a row of at most 2,097,152 bytes, got more")],
        [{"a": "y"}],
        id="row too long",
    ),
    pytest.param(
        b'a\n"' + (b"x" * 1023 + b"\n") * 4_096 + b'"\ny\n',
        [
            (2, f"{OPEN_TOO_LONG}{AS_TEXT} (lines 2 to 4,098 are left out)"),
        ],
        [{"a": "y"}],
        id="cell of many lines too long",
    ),
]


@pytest.mark.parametrize(("data", "expected", "good"), BAD_TABLES)
def test_bad_table_row_is_reported_with_line_and_others_are_read(
    data: bytes, expected: list[tuple[int, str]], good: list[object]
) -> None:
    rows = read(data, "csv")
    assert bad_rows(rows) == expected
    assert payloads(rows) == good


@pytest.mark.parametrize(("extra", "fits"), [(0, True), (1, False)])
def test_row_of_several_lines_is_limited_in_bytes(extra: int, fits: bool) -> None:
    begin, end = b'1,"x\n', b'"\n'
    row = begin + b"x" * (MAX_ROW_BYTES - len(begin + end) + extra) + end
    rows = read(b"a,b\n" + row, "csv", mapping=transfer.ColumnMapping(payload=["a"]))
    assert payloads(rows) == ([{"a": "1"}] if fits else [])
    assert [line for line, message in bad_rows(rows) if "2,097,152 bytes" in message] == ([] if fits else [2])


DEEP = b"[" * 70 + b"]" * 70


BAD_VALUES = [
    pytest.param(b"NaN", "expected JSON numbers, got NaN", id="NaN"),
    pytest.param(b'{"a":-Infinity}', "expected JSON numbers, got -Infinity", id="Infinity"),
    pytest.param(b"1e999", "expected numbers that a double can hold", id="1e999"),
    pytest.param(b"9" * 5_000, "expected whole numbers of at most 308 digits, got more", id="huge integer"),
    pytest.param(b'{"a":1,"a":2}', "expected each key once in an object, got 'a' twice", id="duplicate key"),
    pytest.param(DEEP, "expected JSON at most 64 levels deep, got more", id="too deep"),
    pytest.param(
        b"[" * 100_000 + b"]" * 100_000,
        "expected JSON at most 64 levels deep, got more",
        id="deeper than Python",
    ),
    pytest.param(
        b'"\xff"',
        f"expected UTF-8 text, got byte 1, which is not valid: {REMEDIES['encoding']}",
        id="not UTF-8",
    ),
    pytest.param(b'"\\ud800"', "payload: expected text without lone surrogates", id="lone surrogate"),
    pytest.param(
        b'"' + b"x" * 262_143 + b'"',
        "payload: expected at most 262,144 bytes of JSON, got 262,145",
        id="too long",
    ),
    pytest.param(
        b'"' + b"x" * (3 * MAX_ROW_BYTES) + b'"',
        "expected a row of at most 2,097,152 bytes, got more",
        id="row too long",
    ),
]


@pytest.mark.parametrize(("value", "message"), BAD_VALUES)
@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_invalid_value_is_reported_with_line_and_others_are_read(
    format: str, value: bytes, message: str
) -> None:
    parts = [b'{"a":1}', value, b'{"a":2}']
    data = b"[" + b",\n".join(parts) + b"]" if format == "json" else b"\n".join(parts)
    rows = read(data, format)
    assert bad_rows(rows) == [(2, message)]
    assert payloads(rows) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("format", ["json", "jsonl"])
@pytest.mark.parametrize("value", [b"{bad}", b"'a'", b"{]", b"01", b"tru"])
def test_malformed_json_is_reported_with_line_and_others_are_read(format: str, value: bytes) -> None:
    data = b"[1,\n" + value + b",\n2]" if format == "json" else b"1\n" + value + b"\n2\n"
    rows = read(data, format)
    assert [
        (row.line, row.error.rule, row.error.values["what"]) for row in rows if isinstance(row, BadRow)
    ] == [(2, "json", "syntax")]
    assert payloads(rows) == [1, 2]


@pytest.mark.parametrize(
    ("data", "line", "message", "good"),
    [
        (b"", 1, "a JSON file must be one array of rows; for one row per line, use the format jsonl", []),
        (
            b'\n{"a":1}',
            2,
            "a JSON file must be one array of rows; for one row per line, use the format jsonl",
            [],
        ),
        (b"[1,\n2", 2, "the file ends before its array does", [1]),
        (b'[1,\n"2', 2, "the file ends before its array does", [1]),
        (b'[1,\n"2\\', 2, "the file ends before its array does", [1]),
        (b"[", 1, "the file ends before its array does", []),
        (b"[1]\n[2]", 2, "there is more after the end of the array; none of it was read", [1]),
    ],
)
def test_json_file_other_than_one_array_is_reported(
    data: bytes, line: int, message: str, good: list[object]
) -> None:
    rows = read(data, "json")
    assert bad_rows(rows) == [(line, message)]
    assert payloads(rows) == good


def test_bad_row_of_several_lines_is_reported_at_its_first_line() -> None:
    (bad_row,) = bad_rows(read(b'id,text\n,"one\ntwo"\n', "csv", id_field="id"))
    assert bad_row == (2, "id: expected 1 to 200 printable characters, got '' (lines 2 to 3 are left out)")


@pytest.mark.parametrize("take", [lambda text: transfer.read(text, "csv"), transfer.decoded])
def test_a_stream_of_text_is_refused(take: Any) -> None:
    with refused("type", "stream", what="stream"):
        take(io.StringIO("a\n1\n"))
