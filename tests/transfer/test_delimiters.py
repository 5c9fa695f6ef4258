"""A table's delimiter: named by the caller or the file, or detected from the header."""

from __future__ import annotations

import pytest

from tests.support.refused import refused
from tests.transfer.reads import bad_rows, payloads, read


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        ("a;b", "1,5;2", {"a": "1,5", "b": "2"}),
        ("a\tb", "1,5\t2;3", {"a": "1,5", "b": "2;3"}),
        ("a,b", "1;5,2", {"a": "1;5", "b": "2"}),
        ('"a, x";b', "1;2", {"a, x": "1", "b": "2"}),
        ('"a ""x"", y";b', "1;2", {'a "x", y': "1", "b": "2"}),
        ('"a\n, x";b', "1;2", {"a\n, x": "1", "b": "2"}),
        ("\r\n\r\na;b", "1;2", {"a": "1", "b": "2"}),
        ("only one", "1", {"only one": "1"}),
    ],
)
def test_csv_delimiter_is_detected_from_the_header(header: str, row: str, expected: dict[str, str]) -> None:
    for data in (f"{header}\n{row}\n", f"\ufeff{header}\r\n{row}\r\n"):
        assert payloads(read(data.encode(), "csv")) == [expected]


def test_ambiguous_header_is_a_bad_row_and_no_row_is_read() -> None:
    data = b"amount, net;who\n1,5;Smith\n"
    ((line, message),) = bad_rows(read(data, "csv"))
    assert line == 1
    assert "commas (2), semicolons (2): name the separator with --delimiter" in message
    assert payloads(read(data, "csv", delimiter=";")) == [{"amount, net": "1,5", "who": "Smith"}]
    assert payloads(read(b"a;b\n1;2\n", "csv", delimiter=",")) == [{"a;b": "1;2"}]
    assert payloads(read(b"a;b\n1;2\n", "tsv", delimiter=";")) == [{"a": "1", "b": "2"}]


@pytest.mark.parametrize(("format", "delimiter"), [("csv", ":"), ("csv", ""), ("json", ","), ("jsonl", ";")])
def test_invalid_delimiter_is_refused(format: str, delimiter: str) -> None:
    with refused("format", "delimiter", what="delimiter"):
        read(b"", format, delimiter=delimiter)


@pytest.mark.parametrize(
    ("format", "data", "choices", "delimiter", "expected"),
    [
        (
            "csv",
            b"id|text\n1|a\n",
            "pipes (2), commas (1)",
            "|",
            {"id": "1", "text": "a"},
        ),
        ("csv", b"id|text\n1|a\n", "pipes (2)", ",", {"id|text": "1|a"}),
        ("tsv", b"id|text\n1|a\n", "pipes (2), tabs (1)", "\t", {"id|text": "1|a"}),
        (
            "tsv",
            b"id,text\n1,a\n",
            "commas (2), tabs (1)",
            ",",
            {"id": "1", "text": "a"},
        ),
    ],
)
def test_delimiter_must_be_named_if_a_single_column_could_be_split(
    format: str, data: bytes, choices: str, delimiter: str, expected: dict[str, str]
) -> None:
    ((line, message),) = bad_rows(read(data, format))
    assert line == 1
    assert choices in message
    assert "--delimiter comma, semicolon, tab or pipe" in message
    assert payloads(read(data, format)) == []
    assert payloads(read(data, format, delimiter=delimiter)) == [expected]


@pytest.mark.parametrize(("format", "data"), [("csv", b"a,b|c\n1,2\n"), ("tsv", b"a\tb|c, d\n1\t2\n")])
def test_delimiter_of_the_format_takes_precedence_in_the_header(format: str, data: bytes) -> None:
    assert bad_rows(read(data, format)) == []


@pytest.mark.parametrize(
    ("format", "data", "expected"),
    [
        ("csv", b"sep=;\r\na;b, c\r\n1;2\r\n", {"a": "1", "b, c": "2"}),
        ("csv", b"\xef\xbb\xbfSEP=,\na,b;c\n1,2\n", {"a": "1", "b;c": "2"}),
        ("csv", b"sep=|\na|b\n1|2\n", {"a": "1", "b": "2"}),
        ("csv", b"sep=\t\na\tb,c\n1\t2\n", {"a": "1", "b,c": "2"}),
        ("tsv", b"sep=;\na;b\n1;2\n", {"a": "1", "b": "2"}),
        ("csv", b"sep=\na;b\n1;2\n", {"a": "1", "b": "2"}),
        ("csv", b'"sep=;"\nb\n', {"sep=;": "b"}),
        ("csv", b"separator\nb\n", {"separator": "b"}),
    ],
)
def test_sep_line_sets_the_delimiter_and_is_not_the_header(
    format: str, data: bytes, expected: dict[str, str]
) -> None:
    rows = read(data, format)
    assert payloads(rows) == [expected]
    assert bad_rows(rows) == []


def test_unsupported_delimiter_in_sep_line_is_reported() -> None:
    ((line, message),) = bad_rows(read(b"sep=:\na:b\n1:2\n", "csv"))
    assert line == 1
    assert "the first line names ':' as the separator, which is not supported: name the separator" in message
    assert payloads(read(b"sep=:\na:b\n1:2\n", "csv", delimiter=",")) == [{"a:b": "1:2"}]


def test_delimiter_argument_overrides_sep_line() -> None:
    assert payloads(read(b"sep=;\na;b,c\n1;2,3\n", "csv", delimiter=",")) == [{"a;b": "1;2", "c": "3"}]
    assert bad_rows(read(b"sep=;\na;b\n1;2;3\n", "csv")) == [
        (3, "expected as many columns as the header has (2), got 3 (separated by semicolons)")
    ]
