"""Rejected rows as a file: they are unchanged, and can be corrected and imported."""

from __future__ import annotations

import io
from typing import Any

import pytest

from leaseq import transfer
from leaseq.transfer import BadRow, ColumnMapping
from leaseq.transfer.encodings import MAX_ROW_BYTES
from tests.transfer.reads import bad_rows, payloads, read

BY_ID = ColumnMapping(id="id")
NO_ID = b'"rejected_reason":"id: expected a field \'id\', got a row without it"'


def rejects_of(data: bytes, format: transfer.Format, **options: Any) -> bytes:
    stream = io.BytesIO()
    rejects = transfer.Rejects(stream, format)
    rows = transfer.read(io.BytesIO(data), format, **options)
    for row in rows:
        if isinstance(row, BadRow):
            rejects.add(row, rows.head)
    rejects.close()
    return stream.getvalue()


@pytest.mark.parametrize(
    ("format", "options", "data", "expected"),
    [
        pytest.param(
            "csv",
            {},
            b'a,b\r\n1,2\r\n"3, 3",4,5\r\n6\r\n',
            b"rejected_line,rejected_reason,a,b\r\n"
            b'3,expected as many columns as the header has (2); got 3 (separated by commas),"3, 3",4,5\r\n'
            b"4,expected as many columns as the header has (2); got 1 (separated by commas),6\r\n",
            id="wrong number of columns",
        ),
        pytest.param(
            "csv",
            {},
            b"a;b\n1;2;3",
            b"rejected_line;rejected_reason;a;b\n"
            b"2;expected as many columns as the header has (2), got 3 (separated by semicolons);1;2;3\r\n",
            id="semicolons, no line end at the end",
        ),
        pytest.param(
            "csv",
            {"delimiter": "|"},
            b"a|b\n1\n",
            b"sep=|\r\nrejected_line|rejected_reason|a|b\n"
            b"2|expected as many columns as the header has (2), got 1 (separated by pipes)|1\n",
            id="named delimiter",
        ),
        pytest.param(
            "csv",
            {"mapping": ColumnMapping(priority="p")},
            b'a,p\n"x ""y""\nz",high\n',
            b"rejected_line,rejected_reason,a,p\n"
            b"2,p: expected a whole number from 0 to 1000000; got 'high' (lines 2 to 3 are left out),"
            b'"x ""y""\nz",high\n',
            id="invalid value over two lines",
        ),
        pytest.param(
            "tsv",
            {"quotes": "none"},
            b'a\tb\n"1\n',
            b"rejected_line\trejected_reason\ta\tb\n"
            b'2\texpected as many columns as the header has (2), got 1 (separated by tabs)\t"1\n',
            id="quotes as text",
        ),
        pytest.param(
            "jsonl",
            {"mapping": BY_ID},
            b'{"id":"ok"}\n{"n": 1.50}\n{broken "\n',
            b'{"rejected_line":2,' + NO_ID + b',"row":{"n":1.5}}\n'
            b'{"rejected_line":3,"rejected_reason":"expected well-formed JSON, got an error at '
            b'character 2","text":"{broken \\""}\n',
            id="jsonl",
        ),
        pytest.param(
            "json",
            {"mapping": BY_ID},
            b'[{"id":"ok"},\n{"n":1}, 7]',
            b'[\n{"rejected_line":2,' + NO_ID + b',"row":{"n":1}},\n'
            b'{"rejected_line":2,"rejected_reason":"expected an object with named fields","row":7}\n]\n',
            id="json",
        ),
        pytest.param("csv", {}, b"a\n1\n", b"", id="table without bad rows"),
        pytest.param("csv", {}, b"a,a\n1,2\n", b"", id="table with a bad header"),
        pytest.param("json", {}, b"[1]", b"[]\n", id="array without bad rows"),
    ],
)
def test_bad_rows_are_written_unchanged(
    format: transfer.Format, options: dict[str, Any], data: bytes, expected: bytes
) -> None:
    output = rejects_of(data, format, **options)
    assert output == expected
    if output:
        assert len(bad_rows(read(output, format, **options))) == len(bad_rows(read(data, format, **options)))
    if format in ("csv", "tsv"):  # once more, with the line numbers of the new file
        assert rejects_of(output, format, **options).count(b"\n") == output.count(b"\n")
        assert rejects_of(output, format, **options).count(b"rejected_") == 2 * bool(output)


def test_corrected_rows_are_imported_without_line_and_reason() -> None:
    table = rejects_of(b"id,n\n1\n2,2,2\n", "csv", mapping=BY_ID)
    corrected_data = table.replace(b"commas),1\n", b"commas),1,one\n").replace(b"2,2,2", b"2,two")
    assert payloads(read(corrected_data, "csv", mapping=BY_ID)) == [
        {"id": "1", "n": "one"},
        {"id": "2", "n": "two"},
    ]
    for format in ("jsonl", "json"):
        data = b'{"id":true}\n{"id":}\n' if format == "jsonl" else b'[{"id":true},\n{"id":}]'
        lines = rejects_of(data, format, mapping=BY_ID)
        corrected_data = lines.replace(b'"id":true', b'"id":"1"').replace(b":}", b":2}")
        assert payloads(read(corrected_data, format, mapping=BY_ID)) == [{"id": "1"}, {"id": 2}]


def test_uncorrected_rows_are_rejected_again() -> None:
    for data in (b"nonsense\n", b"[1,\n", b'"' + b"x" * MAX_ROW_BYTES + b'"\n'):
        lines = rejects_of(data, "jsonl")
        assert lines.count(b'"text"') == 1
        assert payloads(read(lines, "jsonl")) == []
    assert payloads(read(rejects_of(b"[1", "json"), "json")) == []


def test_row_resembling_a_rejected_row_is_a_payload() -> None:
    for row in (
        '{"row":1}',
        '{"rejected_line":1,"rejected_reason":"x"}',
        '{"rejected_line":1,"rejected_reason":"","row":1,"n":2}',
    ):
        (item,) = read(row.encode(), "jsonl")
        assert isinstance(item, transfer.NewItem)
        assert len(item.payload) == row.count(":")
    assert payloads(read(b'{"rejected_line":1,"rejected_reason":"","text":5}', "jsonl")) != []


def test_too_long_row_is_reported_without_its_content() -> None:
    table = rejects_of(b"a,b\n" + b"x" * (MAX_ROW_BYTES + 5) + b"\n", "csv")
    assert (
        table
        == b"rejected_line,rejected_reason,a,b\n2,expected a row of at most 2097152 bytes; got more,\r\n"
    )
