"""Files as people's programs write them: headers, empty rows, line ends, encodings, and values in cells."""

from __future__ import annotations

import io

import pytest

from leaseq import transfer
from leaseq.errors import Invalid
from leaseq.transfer import BadRow, CellChoice, NewItem, tables
from tests.transfer.reads import TEXT, next_item, payloads, read, summary

SITES = [{"city": "A", "site": "x"}, {"city": "B", "site": "y"}]


def faults(rows: object) -> list[tuple[int, str | None]]:
    """The line and the remedy of each bad row."""
    return [(row.line, row.remedy) for row in rows if isinstance(row, BadRow)]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("data", "skipped"),
    [
        (b"city,site\nA,x\n,\n,\nB,y\n,\n", 3),
        (b"city,site\n\nA,x\n  , \nB,y\n", 2),
        (b'city,site\nA,x\n"\n",\nB,y\n', 2),
        (b",\ncity,site\nA,x\nB,y\n", 1),
        (b"city,site\nA,x\n,,,\nB,y\n\n", 2),
    ],
)
def test_rows_of_empty_cells_are_skipped_and_counted(data: bytes, skipped: int) -> None:
    assert payloads(read(data, "csv")) == SITES
    assert faults(read(data, "csv")) == []
    assert summary(data, "csv").empty_lines == skipped


def test_unnamed_empty_columns_at_the_right_are_dropped() -> None:
    assert payloads(read(b"city,site,,\nA,x,,\nB,y,,\n", "csv")) == SITES
    assert payloads(read(b"city,site\nA,x,\nB,y,,,\n", "csv")) == SITES


def test_value_in_an_unnamed_column_is_refused_with_its_column() -> None:
    rows = read(b"city,site,,\nA,x,,\nB,y,,note\nB,y,,\n", "csv")
    assert payloads(rows) == SITES
    (bad_row,) = (row for row in rows if isinstance(row, BadRow))
    assert bad_row.line == 3
    assert "column 4 (D)" in bad_row.message
    assert "line 1" in bad_row.message
    assert "'note'" in bad_row.message


def test_unnamed_column_before_a_named_one_is_named_by_its_place() -> None:
    assert payloads(read(b",site\n0,x\n1,y\n", "csv")) == [
        {"column_1": "0", "site": "x"},
        {"column_1": "1", "site": "y"},
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"My sites,\n,\ncity,site\nA,x\nB,y\n",
        b"My sites\ncity,site\nA,x\nB,y\n",
        b"My sites,\nof 2026,\ncity,site\nA,x\nB,y\n",
        b"My sites\n\ncity;site\nA;x\nB;y\n",
    ],
)
def test_title_above_the_header_is_reported_and_left_out_once_the_header_is_named(data: bytes) -> None:
    line = data[: data.index(b"city")].count(b"\n") + 1
    delimiter = ";" if b";" in data else None
    rows = read(data, "csv", delimiter=delimiter)
    assert payloads(rows) == []
    assert faults(rows) == [(1, "header")]
    assert summary(data, "csv", delimiter=delimiter).header_line == line
    assert payloads(read(data, "csv", header_line=line)) == SITES


def test_header_of_one_name_is_no_title() -> None:
    assert payloads(read(b"name,,\nA,,\nB,,\n", "csv")) == [{"name": "A"}, {"name": "B"}]
    rows = read(b"text\nHello, world\nplain\n", "csv")
    assert payloads(rows) == [{"text": "plain"}]
    assert payloads(read(b"text\na,b\nc,d\ne\n", "csv", header_line=1)) == [{"text": "e"}]


def test_file_without_header_has_numbered_columns() -> None:
    rows = read(b"A,x\nB,y\n1,2,3\n", "csv", header_line=0)
    assert payloads(rows) == [{"column_1": "A", "column_2": "x"}, {"column_1": "B", "column_2": "y"}]
    assert [line for line, _ in faults(rows)] == [3]
    assert len(payloads(read(b"A,\nB,y\n", "csv", header_line=0))) == 2, "the first row is no title"
    with_id = read(b"A,x\n", "csv", header_line=0, id_field="column_1")
    assert [row.id for row in with_id if not isinstance(row, BadRow)] == ["A"]


def test_file_whose_first_row_repeats_a_cell_may_have_no_header() -> None:
    (bad_row,) = read(b"same,same\n1,2\n", "csv")
    assert isinstance(bad_row, BadRow)
    assert bad_row.remedy == "header"
    assert "2 (B)" in bad_row.message


@pytest.mark.parametrize("line", [-1, 9])
def test_header_line_outside_the_file_is_refused(line: int) -> None:
    if line < 0:
        with pytest.raises(Invalid):
            transfer.read(io.BytesIO(b"a\n1\n"), "csv", header_line=line)
    else:
        assert [line for line, _ in faults(read(b"a\n1\n", "csv", header_line=line))] == [9]


@pytest.mark.parametrize("end", [b"\r", b"\r\n", b"\n"])
@pytest.mark.parametrize("format", ["csv", "jsonl", "json"])
def test_each_line_end_is_read(end: bytes, format: str) -> None:
    data = b"city,site\nA,x\nB,y"
    if format != "csv":
        data = b'{"city":"A","site":"x"}\n{"city":"B","site":"y"}\n'
    assert payloads(read(data.replace(b"\n", end), format)) == SITES
    assert faults(read(data.replace(b"\n", end) + end + b"1,2,3", "csv" if format == "csv" else "jsonl"))


def test_bare_cr_in_a_file_with_other_line_ends_is_unchanged() -> None:
    assert payloads(read(b'a,b\n"1\r2",3\n', "csv")) == [{"a": "1\r2", "b": "3"}]


@pytest.mark.parametrize(
    "encoding",
    ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8", "utf-8-sig", "utf-16-le-bom", "utf-16-be-bom"],
)
@pytest.mark.parametrize("format", ["csv", "jsonl", "json"])
@pytest.mark.parametrize("word", ["naïve", "имя", "名前"])
def test_unicode_encodings_are_detected(encoding: str, format: str, word: str) -> None:
    text = {
        "csv": f"{word},b\r\n{word},2\r\n",
        "jsonl": f'{{"{word}": 1}}\r\n',
        "json": f'[{{"{word}": 1}}]\r\n',
    }[format]
    mark = "\ufeff" if encoding.endswith("-bom") else ""
    data = (mark + text).encode(encoding.removesuffix("-bom"))
    expected: dict[str, object] = {word: word, "b": "2"} if format == "csv" else {word: 1}
    assert payloads(read(data, format)) == [expected]


def test_other_encoding_is_read_if_named_and_otherwise_asked_for() -> None:
    data = "id,name\n1,Café\n2,plain\n".encode("cp1252")
    assert faults(read(data, "csv")) == [(2, "encoding")]
    assert payloads(read(data, "csv", encoding="cp1252")) == [
        {"id": "1", "name": "Café"},
        {"id": "2", "name": "plain"},
    ]


@pytest.mark.parametrize(
    "data",
    [
        b'{"id": "1"}\n{"id": "2"}\n',
        b'\xef\xbb\xbf\n{"id": "1"}\r\n\r\n{"id": "2"}',
        b'{"id": "1"}\n{"id": "2"}\n{bad\n',
    ],
)
def test_json_lines_are_read_in_a_file_named_json(data: bytes) -> None:
    rows = read(data, "json")
    assert payloads(rows) == [{"id": "1"}, {"id": "2"}]
    assert [line for line, _ in faults(rows)] == ([3] if b"bad" in data else [])


@pytest.mark.parametrize("data", [b'[{"id": "1"},\n {"id": "2"}]', b'[\n{"id": "1"},\n{"id": "2"}\n]\n'])
def test_array_is_read_in_a_file_named_jsonl(data: bytes) -> None:
    assert payloads(read(data, "jsonl")) == [{"id": "1"}, {"id": "2"}]


def test_line_that_is_an_array_is_a_row_of_json_lines() -> None:
    assert payloads(read(b'[{"id": "1"}]\n[1]\n', "jsonl")) == [[{"id": "1"}], [1]]
    assert payloads(read(b'[{"id": "1"}]', "jsonl")) == [[{"id": "1"}]]


def test_object_over_several_lines_is_no_file_of_rows() -> None:
    assert payloads(read(b'{\n"rows": [{"id": "1"}]\n}\n', "json")) == []


AUTO = CellChoice()


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["True", "False"], [True, False]),
        (["TRUE", "FALSE"], [True, False]),
        (["true", ""], [True, None]),
        (["1", "-2", "0"], [1, -2, 0]),
        (["1.5", "2"], [1.5, 2]),
        (['[{"a": 1}]', "[]", '{"b": [true]}'], [[{"a": 1}], [], {"b": [True]}]),
        (["007", "1"], None),
        (["1e5", "1"], None),
        (["1.50"], None),
        (["+1"], None),
        (["3,5"], None),
        (["1", "n/a"], None),
        (["1", "true"], None),
        (["9007199254740993"], None),
        (["1" * 5_000], None),
        (["NaN", "1"], None),
        (["null"], None),
        (['{"a": NaN}'], None),
        (["['a', 'b']"], None),
        ([" 1"], None),
        (["", ""], None),
        (["\u0663"], None),
        (['["\\ud800"]'], None),
    ],
)
def test_column_has_values_if_all_its_cells_survive(cells: list[str], values: list[object] | None) -> None:
    text = "name,x\n" + "".join(f'n,"{cell.replace(chr(34), chr(34) * 2)}"\n' for cell in cells)
    rows = payloads(read(text.encode(), "csv", cells=AUTO))
    assert rows == [{"name": "n", "x": value} for value in (cells if values is None else values)]
    assert [type(row["x"]) for row in rows] == [type(value) for value in (values or cells)]  # type: ignore[index]
    assert payloads(read(text.encode(), "csv", cells=TEXT)) == [{"name": "n", "x": cell} for cell in cells]
    found = summary(text.encode(), "csv").values
    assert found == (() if values is None else ("x",))


@pytest.mark.parametrize("name", ["id", "ID", "user_id", "userId", "order id", "Id"])
def test_ids_stay_text(name: str) -> None:
    data = f"{name},n\n1,2\n".encode()
    assert payloads(read(data, "csv", cells=AUTO)) == [{name: "1", "n": 2}]


def test_columns_of_roles_stay_text() -> None:
    mapping = transfer.ColumnMapping(id="key", priority="rank")
    data = b"key,rank,paid\n1,2,true\n"
    (item,) = read(data, "csv", cells=AUTO, mapping=mapping)
    assert item == transfer.NewItem({"key": "1", "rank": "2", "paid": True}, id="1", priority=2)


def test_each_column_can_be_chosen() -> None:
    data = b"n,m,valid\n1,2,true\n3,x,false\n"
    rows = read(data, "csv", cells=CellChoice(text=["n"], value=["m"]))
    assert payloads(rows) == [{"n": "1", "m": 2, "valid": True}]
    assert faults(rows) == [(3, "cells")]
    assert payloads(read(data, "csv", cells=CellChoice(value=["n"], raw=True))) == [
        {"n": 1, "m": "2", "valid": "true"},
        {"n": 3, "m": "x", "valid": "false"},
    ]
    (bad_row,) = read(data, "csv", cells=CellChoice(text=["other"]))
    assert isinstance(bad_row, BadRow)
    assert bad_row.line == 1
    assert payloads(read(b'[{"n": "1"}]', "json", cells=AUTO)) == [{"n": "1"}]


def test_last_cell_of_a_long_column_decides() -> None:
    data = b"n\n" + b"1\n" * 5_000
    assert payloads(read(data, "csv", cells=AUTO))[-1] == {"n": 1}
    assert payloads(read(data + b"x\n", "csv", cells=AUTO))[0] == {"n": "1"}


def test_rows_that_are_read_ahead_take_limited_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column that had only values until then has values, and a later cell of another kind is a bad row."""
    monkeypatch.setattr(tables, "SPOOL_BYTES", 20_000)
    data = io.BytesIO(b"n,m,x\n" + b"1,true,\n" * 50_000 + b"7,n/a,t\ntrue,false,3\n,,4\n")
    rows = transfer.read(data, "csv", cells=AUTO)
    assert next_item(rows).payload == {"n": 1, "m": True, "x": ""}
    assert data.tell() < 200_000
    *_, first, second, last = rows
    assert isinstance(last, NewItem)
    assert last.payload == {"n": None, "m": None, "x": "4"}
    assert faults([first, second]) == [(50_002, "cells"), (50_003, "cells")]
