"""``leaseq import`` of tables: delimiters and double quotes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import leaseq
from tests.cli.conftest import Call
from tests.cli.queue_contents import inbound_payloads
from tests.support.refused import unavailable
from tests.transfer import corpus


def all_inbound_payloads(queue: leaseq.Queue) -> list[Any]:
    payloads, after = list[Any](), None
    while True:
        page = queue.page("inbound", limit=1_000, after=after)
        payloads += [item.payload for item in page.items]
        if (after := page.after) is None:
            return payloads


def test_delimiter_is_detected_from_header_or_required_if_ambiguous(
    call: Call, new_queue: leaseq.Queue, tmp_path: Path
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("\ufeffn;t\n1;x, y\n")
    assert call("import", new_queue.name, str(file)).stdout == "1 added, 0 duplicates, 0 rejected\n"
    file.write_text("n, a;t\n1;x\n")
    result = call("import", new_queue.name, str(file))
    assert (result.exit_code, result.stdout) == (1, "0 added, 0 duplicates, 1 rejected\n")
    assert "commas (2), semicolons (2)" in result.stderr
    assert "delimiter" in result.stderr
    call("import", new_queue.name, str(file), "--delimiter", "semicolon")
    assert inbound_payloads(new_queue) == [{"n": 1, "t": "x, y"}, {"n, a": 1, "t": "x"}]
    json_result = call("import", new_queue.name, str(file), "--format", "json", "--delimiter", "tab")
    assert json_result.exit_code != 0
    assert "csv and tsv" in json_result.stderr


def test_single_column_with_pipes_requires_delimiter_option(call: Call, new_queue: leaseq.Queue) -> None:
    command = ("import", new_queue.name, "-", "--format", "csv")
    result = call(*command, input=b"n|t\n1|x\n")
    assert (result.exit_code, result.stdout) == (1, "0 added, 0 duplicates, 1 rejected\n")
    assert "pipes (2), commas (1)" in result.stderr
    assert "--delimiter comma, semicolon, tab or pipe" in result.stderr
    for delimiter in ("pipe", "comma"):
        assert call(*command, "--delimiter", delimiter, input=b"n|t\n1|x\n").exit_code == 0
    assert inbound_payloads(new_queue) == [{"n": 1, "t": "x"}, {"n|t": "1|x"}]


def test_text_with_unpaired_quotes_is_imported_unchanged(
    call: Call, new_queue: leaseq.Queue, tmp_path: Path
) -> None:
    lines = corpus.messages(5_574, 14)
    (tmp_path / "sms.tsv").write_bytes(corpus.table(lines))
    result = call("import", new_queue.name, str(tmp_path / "sms.tsv"))
    assert (result.exit_code, result.stdout) == (0, "5,574 added, 0 duplicates, 0 rejected\n")
    assert all_inbound_payloads(new_queue) == corpus.rows(lines)
    (line,) = result.stderr.splitlines()
    assert "all quotes of the file were read as text: --quotes double" in line


@pytest.mark.parametrize(
    ("file", "options", "summary", "notes"),
    [
        pytest.param(
            b'a\tb\n1\t"x"\n2\t"y ""z"""\n',
            [],
            "2 added, 0 duplicates, 0 rejected",
            "2 fields were unquoted: --quotes none keeps the quotes\n",
            id="unquoted",
        ),
        pytest.param(
            b'a\tb\n1\t"x"\n', ["--quotes", "none"], "1 added, 0 duplicates, 0 rejected", "", id="kept"
        ),
        pytest.param(
            b'a\tb\n1\t"x\n2\ty"\n',
            ["--quotes", "double"],
            "1 added, 0 duplicates, 0 rejected",
            "1 row spans 2 lines because of quoted line breaks (first: lines 2 to 3): "
            "--quotes none reads each line as a row\n",
            id="joined",
        ),
        pytest.param(
            b'a\tb\n1\tx\n2\t"y\n3\tz\n',
            ["--quotes", "double"],
            "1 added, 0 duplicates, 2 rejected",
            "line 3: a quote opens in this row and does not close: to read quotes as text, use --quotes none "
            "(lines 3 to 4 are left out)\n",
            id="open",
        ),
        pytest.param(
            b"a\tb\n1\tx\n\n\n",
            [],
            "1 added, 0 duplicates, 0 rejected",
            "2 empty lines were skipped\n",
            id="blank",
        ),
    ],
)
def test_import_reports_effects_of_quotes_and_skipped_lines(
    call: Call, new_queue: leaseq.Queue, file: bytes, options: list[str], summary: str, notes: str
) -> None:
    result = call("import", new_queue.name, "-", "--format", "tsv", "--raw-cells", *options, input=file)
    assert (result.stdout, result.stderr) == (f"{summary}\n", notes)
    assert result.exit_code == (0 if "0 rejected" in summary else 1)


def test_interrupted_import_reports_effects_of_quotes(
    call: Call, new_queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_off(queue: leaseq.Queue, items: Any, **options: Any) -> Any:
        raise unavailable()

    monkeypatch.setattr(leaseq.Queue, "enqueue_many", break_off)
    result = call("import", new_queue.name, "-", "--format", "tsv", input=b'a\n"x"\n')
    assert result.stderr.splitlines() == [
        "1 field was unquoted: --quotes none keeps the quotes",
        f"leaseq: {unavailable()}",
    ]


def test_header_options_choose_the_columns(call: Call, new_queue: leaseq.Queue) -> None:
    command = ("import", new_queue.name, "-", "--format", "csv")
    titled = b"My sites,\n,\ncity,site\nA,x\n"
    result = call(*command, input=titled)
    assert (result.exit_code, result.stdout) == (1, "0 added, 0 duplicates, 1 rejected\n")
    assert "line 1: " in result.stderr
    assert "--header-line" in result.stderr
    assert call(*command, "--header-line", "3", input=titled).exit_code == 0
    assert call(*command, "--no-header", input=b"B,y\n").exit_code == 0
    assert call(*command, "--no-header", "--header-line", "3", input=titled).exit_code == 2
    assert inbound_payloads(new_queue) == [{"city": "A", "site": "x"}, {"column_1": "B", "column_2": "y"}]


def test_cells_are_values_unless_text_is_chosen(call: Call, new_queue: leaseq.Queue) -> None:
    command = ("import", new_queue.name, "-", "--format", "csv")
    data = b"id,ok,n,zip\n1,True,5,007\n"
    assert "ok, n" in call(*command, input=data).stderr
    for options in (["--raw-cells"], ["--text-field", "n"], ["--value-field", "n", "--raw-cells"]):
        assert call(*command, *options, input=data).exit_code == 0
    assert inbound_payloads(new_queue) == [
        {"id": "1", "ok": True, "n": 5, "zip": "007"},
        {"id": "1", "ok": "True", "n": "5", "zip": "007"},
        {"id": "1", "ok": True, "n": "5", "zip": "007"},
        {"id": "1", "ok": "True", "n": 5, "zip": "007"},
    ]
    refused = call(*command, "--value-field", "zip", input=data)
    assert (refused.exit_code, "line 2: zip: " in refused.stderr) == (1, True)


def test_due_dates_need_an_order_if_they_are_written_in_numbers(call: Call, new_queue: leaseq.Queue) -> None:
    command = ("import", new_queue.name, "-", "--format", "csv", "--due-field", "due", "--id-field", "id")
    assert call(*command, input=b"id,due\na,3/4/2031\n").exit_code == 1
    assert call(*command, "--dates", "day-first", input=b"id,due\na,3/4/2031\n").exit_code == 0
    due = new_queue.get("a").due
    assert due is not None
    assert (due.month, due.day) == (4, 3)
