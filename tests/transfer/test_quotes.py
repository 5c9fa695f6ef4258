"""Quotes in TSV and CSV: in raw text, around fields, and in messages.

Nothing is lost, merged or changed silently.
"""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaseq import transfer
from leaseq.transfer import BadRow, NewItem
from tests.support.refused import refused
from tests.transfer import corpus
from tests.transfer.reads import bad_rows, next_item, payloads, read, summary

ROWS = 5_574


@pytest.mark.parametrize("seed", range(3))
def test_corpus_of_raw_text_is_read_unchanged(seed: int) -> None:
    lines = corpus.messages(ROWS, seed)
    rows = read(corpus.table(lines), "tsv")
    assert bad_rows(rows) == []
    assert payloads(rows) == corpus.rows(lines)


def test_summary_names_line_of_the_unclosed_quote() -> None:
    lines = ["ham\tone", 'ham\t"two"', 'spam\t"three', "ham\tfour"]
    table_summary = summary(corpus.table(lines), "tsv")
    assert (table_summary.quotes, table_summary.open_quote_line, table_summary.unquoted) == ("none", 4, 0)
    assert payloads(read(corpus.table(lines), "tsv")) == corpus.rows(lines)


@pytest.mark.parametrize("field", ['"', '"""', '"a', '"a" b', '"a"b"', '"a"" b', '"a" "b"', '"a" '], ids=repr)
def test_quote_not_closed_at_field_end_makes_all_quotes_text(field: str) -> None:
    before, after = 'ham\t"closed"', '"ham"\tlast'
    rows = read(corpus.table([before, f"ham\t{field}", after]), "tsv", quotes="auto")
    expected = [{"label": "ham", "text": '"closed"'}, {"label": '"ham"', "text": "last"}]
    assert [row for row in payloads(rows) if row in expected] == expected
    assert len(rows) == 3


def test_fully_quoted_fields_are_unquoted_and_counted() -> None:
    data = corpus.table(['"ham"\t"say ""hi"""', 'ham\tsay "hi"', 'ham\t""'])
    assert payloads(read(data, "tsv")) == [
        {"label": "ham", "text": 'say "hi"'},
        {"label": "ham", "text": 'say "hi"'},
        {"label": "ham", "text": ""},
    ]
    table_summary = summary(data, "tsv")
    assert (table_summary.quotes, table_summary.unquoted, table_summary.open_quote_line) == (
        "double",
        3,
        None,
    )
    for variant in (data.replace(b"\n", b"\r\n"), data.removesuffix(b"\n"), b"\xef\xbb\xbf" + data):
        assert read(variant, "tsv") == read(data, "tsv")
        assert summary(variant, "tsv") == table_summary
    rows_as_text = read(data, "tsv", quotes="none")
    assert payloads(rows_as_text)[0] == {"label": '"ham"', "text": '"say ""hi"""'}
    assert summary(data, "tsv", quotes="none").unquoted == 0


def test_summary_is_empty_without_quoted_fields() -> None:
    data = corpus.table(['ham\tthe 6" one', "ham\t'x'"])
    assert summary(data, "tsv") == transfer.TableSummary("auto", header_line=1)
    assert payloads(read(data, "tsv", quotes="double")) == payloads(read(data, "tsv", quotes="none"))


def test_csv_quotes_enclose_fields_by_default() -> None:
    data = b'a,b\n"x, y",1\n'
    assert (
        payloads(read(data, "csv"))
        == payloads(read(data, "csv", quotes="double"))
        == [{"a": "x, y", "b": "1"}]
    )
    assert bad_rows(read(data, "csv", quotes="none")) == [
        (2, "expected as many columns as the header has (2), got 3 (separated by commas)")
    ]
    raw_data = b'label,text\nham,"x\nspam,"y" z\n'
    assert [row["text"] for row in payloads(read(raw_data, "csv", quotes="none"))] == ['"x', '"y" z']  # type: ignore[index]


def test_quotes_double_reads_tsv_fields_with_tabs_and_line_breaks() -> None:
    data = b'a\tb\n"x\ty"\t"1\n2"\n'
    assert payloads(read(data, "tsv", quotes="double")) == [{"a": "x\ty", "b": "1\n2"}]
    assert summary(data, "tsv").open_quote_line == 2
    assert len(bad_rows(read(data, "tsv"))) == 2


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_summary_counts_rows_of_several_lines(format: str) -> None:
    mark = "," if format == "csv" else "\t"
    text = 'a;b\n1;2\nham;"Hi\nspam;Bye"\n3;"x\n\ny"\n'.replace(";", mark)
    rows = read(text.encode(), format, quotes="double")
    assert payloads(rows)[1] == {"a": "ham", "b": f"Hi\nspam{mark}Bye"}
    table_summary = summary(text.encode(), format, quotes="double")
    assert (table_summary.joined_rows, table_summary.joined_lines, table_summary.joined_first) == (
        2,
        5,
        (3, 4),
    )
    rows_as_text = read(text.encode(), format, quotes="none")
    assert payloads(rows_as_text)[1:3] == [{"a": "ham", "b": '"Hi'}, {"a": "spam", "b": 'Bye"'}]


def test_summary_reports_a_header_of_several_lines() -> None:
    assert summary(b'a,"b\n1,2"\n3,4\n', "csv").joined_first == (1, 2)


def test_empty_lines_are_skipped_and_counted() -> None:
    data = b"text\none\n\ntwo\n\r\n"
    assert payloads(read(data, "tsv")) == [{"text": "one"}, {"text": "two"}]
    assert summary(data, "tsv").empty_lines == summary(data, "csv").empty_lines == 2


def test_too_long_row_affects_no_other_row_if_quotes_are_text() -> None:
    data = b'a\n"' + b"x" * 2_097_152 + b'\none\n"two\n'
    for quotes in ("none", "auto"):
        rows = read(data, "tsv", quotes=quotes)
        assert bad_rows(rows) == [(2, "expected a row of at most 2,097,152 bytes, got more")]
        assert payloads(rows) == [{"a": "one"}, {"a": '"two'}]
    data = b'a\n"zero"\n"' + b"x" * 2_097_152 + b'\n"one"\n'
    assert payloads(read(data, "tsv")) == [{"a": "zero"}, {"a": "one"}]


def test_invalid_quotes_option_is_refused() -> None:
    for format, quotes in (("tsv", "single"), ("json", "double"), ("jsonl", "none")):
        with refused("format", "quotes", what="quotes"):
            transfer.read(io.BytesIO(), format, quotes=quotes)  # type: ignore[arg-type]
    assert transfer.read(io.BytesIO(b"1\n"), "jsonl", quotes="auto").summary is None


class EndlessFile(io.RawIOBase):
    """An endless pipe of rows without quoted fields."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
        line = b'ham\tthe 6" one\n'
        buffer[: len(line)] = line
        return len(line)


def test_pipe_without_quoted_fields_is_not_read_ahead() -> None:
    rows = transfer.read(io.BufferedReader(EndlessFile(), 64), "tsv")
    assert [next_item(rows) for _ in range(100)] == [
        NewItem({"ham": "ham", 'the 6" one': 'the 6" one'})
    ] * 100


raw = st.text(
    st.sampled_from('""" ,;|ab=\\\'')
    | st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\n\r"),
    max_size=12,
)
raw_lines = st.lists(st.tuples(raw, raw).map("\t".join), max_size=12)


def filled(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """The rows that are read: those with any text."""
    return [row for row in rows if any(cell.strip() for cell in row.values())]


@given(raw_lines)
def test_raw_text_is_unchanged_if_quotes_are_text(lines: list[str]) -> None:
    rows = read(corpus.table(lines), "tsv", quotes="none")
    assert bad_rows(rows) == []
    assert payloads(rows) == filled(corpus.rows(lines))


@given(raw_lines)
def test_fields_changed_by_unquoting_are_counted(lines: list[str]) -> None:
    rows = read(corpus.table(lines), "tsv")
    table_summary = summary(corpus.table(lines), "tsv")
    assert bad_rows(rows) == []
    changed_pairs = [
        (was, now)
        for row, expected in zip(payloads(rows), filled(corpus.rows(lines)), strict=True)
        for was, now in zip(expected.values(), row.values(), strict=True)  # type: ignore[attr-defined]
        if was != now
    ]
    assert len(changed_pairs) == table_summary.unquoted
    assert all(was == '"' + now.replace('"', '""') + '"' for was, now in changed_pairs)


@given(st.lists(raw | raw_lines.map("\n".join), max_size=8), st.sampled_from(["csv", "tsv"]))
def test_every_line_of_any_table_is_in_a_row_or_counted(lines: list[str], format: str) -> None:
    text = "\n".join(["a", *lines, ""])
    mark = "," if format == "csv" else "\t"
    for quotes in transfer.QUOTES:
        rows = read(text.encode(), format, quotes=quotes, delimiter=mark, header_line=1)
        table_summary = summary(text.encode(), format, quotes=quotes, delimiter=mark, header_line=1)
        good_count, left_out_count = (
            len(payloads(rows)),
            sum(row.lines for row in rows if isinstance(row, BadRow)),
        )
        row_lines = good_count + table_summary.joined_lines - table_summary.joined_rows
        assert 1 + row_lines + left_out_count + table_summary.empty_lines == text.count("\n")
