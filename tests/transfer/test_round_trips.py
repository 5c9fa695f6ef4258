"""Written files read back the same: the library's own, and those of Python's csv module."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from leaseq import transfer
from leaseq.errors import Invalid
from leaseq.transfer import NewItem
from tests.transfer.reads import TEXT
from tests.transfer.test_writing import answer

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
marked = st.text(st.sampled_from("=+-@\uff1d;,|\t1.e a\"'\\"), max_size=12)
names = st.lists(text.filter(str.strip), min_size=1, max_size=5, unique=True)
numbers = st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | text
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)
rows_of_a_table = names.flatmap(
    lambda header: st.tuples(
        st.just(header), st.lists(st.lists(text, min_size=len(header), max_size=len(header)), max_size=6)
    )
)


def payloads(data: bytes, format: str, **options: Any) -> list[object]:
    rows = list(transfer.read(io.BytesIO(data), format, cells=TEXT, **options))
    assert all(isinstance(row, NewItem) for row in rows), rows
    return [row.payload for row in rows if isinstance(row, NewItem)]


@given(rows_of_a_table, st.sampled_from(["\n", "\r\n"]), st.sampled_from([",", "\t", ";"]), st.booleans())
def test_any_table_reads_back(
    table: tuple[list[str], list[list[str]]], line_end: str, delimiter: str, bom: bool
) -> None:
    header, rows = table
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=line_end, quoting=csv.QUOTE_ALL)
    writer.writerows([header, *rows])
    data = stream.getvalue().encode("utf-8-sig" if bom else "utf-8")
    expected = [dict(zip(header, row, strict=True)) for row in rows if any(map(str.strip, row))]
    assert payloads(data, "csv", header_line=1) == expected


@given(st.lists(values, max_size=5))
def test_any_json_lines_read_back(json_values: list[object]) -> None:
    data = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in json_values)
    assert payloads(data.encode(), "jsonl") == json_values


@given(st.lists(values, max_size=5), st.sampled_from([None, 1]), st.booleans())
def test_any_json_array_reads_back(json_values: list[object], indent: int | None, is_ascii: bool) -> None:
    assert (
        payloads(json.dumps(json_values, indent=indent, ensure_ascii=is_ascii).encode(), "json")
        == json_values
    )


@given(st.lists(st.tuples(values, values), max_size=4), st.sampled_from(["json", "jsonl"]))
def test_any_export_reads_back_as_json(pairs: list[tuple[object, object]], format: str) -> None:
    stream = io.BytesIO()
    answers = (answer(payload=payload, result=result) for payload, result in pairs)
    transfer.write(answers, stream, format)
    rows = payloads(stream.getvalue(), format)
    assert [(row["payload"], row["result"]) for row in rows] == pairs  # type: ignore[index]


@given(
    st.lists(st.dictionaries(text, text | marked, max_size=4), min_size=1, max_size=4),
    st.sampled_from(["csv", "tsv"]),
)
def test_any_table_that_is_exported_reads_back(payload_dicts: list[dict[str, str]], format: str) -> None:
    stream = io.BytesIO()
    transfer.write((answer(payload=payload) for payload in payload_dicts), stream, format)
    rows = payloads(stream.getvalue(), format, delimiter="," if format == "csv" else "\t", quotes="double")
    for row, payload in zip(rows, payload_dicts, strict=True):
        cells = {key: cell for key, cell in row.items() if key.startswith("payload.")}  # type: ignore[attr-defined]
        assert {key: transfer.unguarded(cell) for key, cell in cells.items() if cell} == {
            f"payload.{key}": cell for key, cell in payload.items() if cell
        }


@given(st.binary(max_size=200), st.sampled_from(transfer.FORMATS))
def test_arbitrary_bytes_are_read_or_their_encoding_refused(data: bytes, format: str) -> None:
    for rows in (
        transfer.read(io.BytesIO(data), format),
        transfer.read(io.BytesIO(b"[" + data), format, id_field="a"),
    ):
        with contextlib.suppress(Invalid):  # it begins like UTF-16 and goes on differently
            list(rows)


@given(st.lists(text, max_size=4) | st.dictionaries(text, values, max_size=4))
def test_any_json_in_a_cell_reads_back(value: object) -> None:
    assert json.loads(transfer.cell(value)) == value


@given(marked | text)
def test_guarded_cell_is_no_formula_and_gives_the_text_again(cell_text: str) -> None:
    written = transfer.cell(cell_text)
    number = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
    runs = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
    assert not written.startswith(runs) or number.fullmatch(written)
    assert transfer.unguarded(written) == cell_text
