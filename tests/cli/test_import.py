"""``leaseq import``, with real files and real pipes."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import leaseq
from tests.cli.conftest import Call, Spawn
from tests.cli.queue_contents import inbound_payloads
from tests.support.bad_questions import IMPOSSIBLE_FORM
from tests.support.refused import unavailable


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", 'n,t\none,"x, y"\n2,\n'),
        ("a.tsv", "n\tt\none\tx, y\n2\t\n"),
        ("a.json", '[{"n":"one","t":"x, y"},{"n":"2","t":""}]'),
        ("a.jsonl", '{"n":"one","t":"x, y"}\n{"n":"2","t":""}\n'),
        ("b.json", '{"n":"one","t":"x, y"}\n{"n":"2","t":""}\n'),
    ],
)
def test_file_of_each_format_is_imported(
    call: Call, new_queue: leaseq.Queue, tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    result = call("import", new_queue.name, str(tmp_path / name))
    assert (result.exit_code, result.stdout, result.stderr) == (0, "2 added, 0 duplicates, 0 rejected\n", "")
    assert inbound_payloads(new_queue) == [{"n": "one", "t": "x, y"}, {"n": "2", "t": ""}]


def test_pipe_is_imported(spawn: Spawn, new_queue: leaseq.Queue) -> None:
    process = spawn("import", new_queue.name, "-", "--format", "jsonl", "--json", stdin=subprocess.PIPE)
    out, err = process.communicate(b'{"n":1}\n{"n":2}\n', timeout=60)
    assert (process.returncode, json.loads(out), err) == (
        0,
        {"added": 2, "duplicates": 0, "rejected": 0, "conflicts": 0},
        b"",
    )
    assert inbound_payloads(new_queue) == [{"n": 1}, {"n": 2}]


def test_bad_row_is_reported_and_other_rows_are_imported(call: Call, new_queue: leaseq.Queue) -> None:
    result = call("import", new_queue.name, "-", "--format", "csv", input=b"n\n1\n2,2\n\xff\n3\n")
    assert result.exit_code == 1
    assert result.stdout == "2 added, 0 duplicates, 2 rejected\n"
    columns, encoding, _ = result.stderr.splitlines()
    assert columns == "line 3: expected as many columns as the header has (1), got 2 (separated by commas)"
    assert encoding.startswith("line 4: not UTF-8 text: name the file's encoding with --encoding")
    assert inbound_payloads(new_queue) == [{"n": 1}, {"n": 3}]


def test_second_import_with_id_field_adds_nothing(call: Call, new_queue: leaseq.Queue) -> None:
    for expected in ("2 added, 0 duplicates", "0 added, 2 duplicates"):
        result = call("import", new_queue.name, "-", "--format", "csv", "--id-field", "n", input=b"n\n1\n2\n")
        assert (result.exit_code, result.stdout) == (0, f"{expected}, 0 rejected\n")
    assert new_queue.get("2").payload == {"n": "2"}
    third_result = call("import", new_queue.name, "-", "--format", "csv", "--id-field", "n", input=b"n\n1\n")
    assert third_result.stdout == "0 added, 1 duplicate, 0 rejected\n"


def test_columns_are_mapped_to_fields_of_item(call: Call, new_queue: leaseq.Queue) -> None:
    rows = b'nr,text,note,urgency,by,skills\n7,hello,x,20,2031-03-01,"fr, legal"\n8,bye,y,,,\n9,no,z,high,,\n'
    columns = [
        "--id-field",
        "nr",
        "--priority-field",
        "urgency",
        "--due-field",
        "by",
        "--requires-field",
        "skills",
    ]
    payload = ["--payload-field", "note", "--payload-field", "text"]
    result = call("import", new_queue.name, "-", "--format", "csv", *columns, *payload, input=rows)
    assert (result.exit_code, result.stdout) == (1, "2 added, 0 duplicates, 1 rejected\n")
    assert result.stderr == "line 4: urgency: expected a whole number from 0 to 1,000,000, got 'high'\n"
    first_item, second_item = new_queue.get("7"), new_queue.get("8")
    assert (list(first_item.payload.items()), first_item.priority) == ([("note", "x"), ("text", "hello")], 20)
    assert (first_item.due, first_item.requires) == (datetime(2031, 3, 1, tzinfo=UTC), ("fr", "legal"))
    assert (second_item.payload, second_item.priority, second_item.due, second_item.requires) == (
        {"note": "y", "text": "bye"},
        100,
        None,
        (),
    )


def test_form_deadline_and_addressee_are_taken_from_columns_and_exported(
    call: Call, new_queue: leaseq.Queue, worker: str, tmp_path: Path
) -> None:
    form = {"ask": {"type": "object", "properties": {"ok": {"type": "boolean"}}}}
    cell, bad_cell = (json.dumps(value).replace('"', '""') for value in (form, IMPOSSIBLE_FORM))
    lines = [
        "nr,what,until,who",
        f'1,"{cell}",2031-03-01,{worker}',
        "2,,soon,",
        "3,[1],,",
        f'4,"{bad_cell}",,',
    ]
    rows = "\n".join([*lines, "5,,,nobody", ""]).encode()
    columns = ["--id-field", "nr", "--form-field", "what", "--expires-field", "until", "--to-field", "who"]
    result = call("import", new_queue.name, "-", "--format", "csv", *columns, input=rows)
    assert (result.exit_code, result.stdout) == (1, "1 added, 0 duplicates, 4 rejected\n")
    assert "line 6: to:" in result.stderr
    checked = call("import", new_queue.name, "-", "--format", "csv", *columns, "--dry-run", input=rows)
    assert re.findall(r"\d+", checked.stdout) == ["1", "4"]
    item = new_queue.get("1")
    assert (item.form, item.assigned_to) == (form, (worker,))
    assert item.expires == datetime(2031, 3, 1, tzinfo=UTC)

    for name, back in (("items.jsonl", ["--envelope"]), ("items.csv", [])):
        file = str(tmp_path / name)
        assert call("export", new_queue.name, file, "--items", "inbound").exit_code == 0
        new_queue.remove("1")
        columns = [
            "--id-field",
            "id",
            "--form-field",
            "form",
            "--expires-field",
            "expires",
            "--to-field",
            "to",
        ]
        assert call("import", new_queue.name, file, *(back or columns)).exit_code == 0
        again = new_queue.get("1")
        assert (again.form, again.expires, again.assigned_to) == (item.form, item.expires, item.assigned_to)


@pytest.mark.parametrize("part", ["id", "priority", "due", "requires", "payload"])
def test_missing_column_is_named(call: Call, new_queue: leaseq.Queue, part: str) -> None:
    option = f"--{part}-field"
    result = call("import", new_queue.name, "-", "--format", "csv", option, "nr", input=b"a,b\n1,2\n")
    assert (result.exit_code, result.stderr) == (
        1,
        "line 1: the header has no column 'nr'; it has a, b\n",
    )
    envelope_result = call(
        "import", new_queue.name, "-", "--format", "jsonl", "--envelope", option, "nr", input=b"{}"
    )
    assert (envelope_result.exit_code, "--envelope is used without" in envelope_result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rows.xls", "a spreadsheet: save it as xlsx or as CSV (UTF-8) there"),
        ("ROWS.XLS", "a spreadsheet"),
        ("rows.ods", "a spreadsheet"),
        ("rows.parquet", "a Parquet file: write it as JSONL, with duckdb for instance"),
        ("https://example.com/rows.csv", "which is not fetched: pipe it in, curl -fsS URL |"),
        ("s3://bucket/rows.parquet", "the URL"),
    ],
)
def test_unsupported_source_is_refused_with_advice(
    call: Call, new_queue: leaseq.Queue, tmp_path: Path, name: str, message: str
) -> None:
    if "://" not in name:
        (tmp_path / name).write_bytes(b"PK\x03\x04")
        name = str(tmp_path / name)
    for options in ([], ["--format", "csv"]):
        result = call("import", new_queue.name, name, *options)
        assert result.exit_code == 2
        assert message in " ".join(result.stderr.split())
    assert new_queue.stats().inbound == 0


def test_envelope_sets_fields_of_item(call: Call, new_queue: leaseq.Queue) -> None:
    row = {"payload": {"n": 1}, "id": "x", "priority": 5, "max_attempts": 9, "due": "2026-11-21T10:05:00Z"}
    result = call(
        "import", new_queue.name, "-", "--format", "jsonl", "--envelope", input=json.dumps(row).encode()
    )
    assert result.exit_code == 0, result.stderr
    item = new_queue.get("x")
    assert (item.payload, item.priority, item.max_attempts) == ({"n": 1}, 5, 9)
    assert item.due is not None


BAD_ENVELOPES = [
    '{"payload":1,"priority":99999999}',
    '{"payload":1,"delay":1e300}',
    '{"payload":1,"max_attempts":2000}',
    '{"payload":1,"requires":["A B"]}',
    '{"payload":1,"due":"9999-12-31T23:59:59Z","id":"\\u0000"}',
]


@pytest.mark.parametrize("row", BAD_ENVELOPES)
def test_row_with_invalid_field_is_rejected_and_others_are_imported(
    call: Call, new_queue: leaseq.Queue, row: str
) -> None:
    data = '{"payload":"before"}\n' + row + '\n{"payload":"after"}\n'
    result = call("import", new_queue.name, "-", "--format", "jsonl", "--envelope", input=data.encode())
    assert (result.exit_code, result.stdout) == (1, "2 added, 0 duplicates, 1 rejected\n")
    assert result.stderr.startswith("line 2: ")
    assert inbound_payloads(new_queue) == ["before", "after"]


def test_interrupted_import_reports_number_of_added_items(
    call: Call, new_queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueue_many = leaseq.Queue.enqueue_many
    calls = []

    def break_off(queue: leaseq.Queue, items: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) > 2:
            raise unavailable()
        return enqueue_many(queue, items, **options)

    monkeypatch.setattr(leaseq.Queue, "enqueue_many", break_off)
    result = call("import", new_queue.name, "-", "--format", "jsonl", input=b"1\n" * 5_000)
    assert result.exit_code == 1
    assert result.stderr == (
        f"leaseq: before it stopped: 2,000 added, 0 duplicates, 0 rejected\nleaseq: {unavailable()}\n"
    )


def test_encoding_option_is_applied_and_undecodable_line_is_named(
    call: Call, new_queue: leaseq.Queue, tmp_path: Path
) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes("t\nnaïve\n".encode("cp1252"))
    utf8_result = call("import", new_queue.name, str(file))
    assert (utf8_result.exit_code, utf8_result.stdout) == (1, "0 added, 0 duplicates, 1 rejected\n")
    assert "name the file's encoding with --encoding" in utf8_result.stderr
    assert call("import", new_queue.name, str(file), "--encoding", "cp1252").exit_code == 0
    file.write_bytes(b"t\n" + b"ok\n" * 1_500 + b"\x81\n")
    cp1252_result = call("import", new_queue.name, str(file), "--encoding", "cp1252")
    assert (cp1252_result.exit_code, cp1252_result.stdout) == (2, "")
    assert "cp1252, in which the byte 0x81 of line 1,502 is not valid" in cp1252_result.stderr
    klingon_result = call("import", new_queue.name, str(file), "--encoding", "klingon")
    assert (klingon_result.exit_code, klingon_result.stderr.count("\n")) == (2, 1)
    assert "encoding: expected a text encoding, such as cp1252, utf-16 or shift_jis, got 'klingon'" in (
        klingon_result.stderr
    )
    assert "did you mean cp1252?" in call("import", new_queue.name, str(file), "--encoding", "cp-1252").stderr
    assert inbound_payloads(new_queue)[0] == {"t": "naïve"}


def test_gzipped_file_is_unpacked_regardless_of_name(
    call: Call, new_queue: leaseq.Queue, tmp_path: Path
) -> None:
    gzip_bytes = gzip.compress(b"n\n1\n")
    for name, options in {"a.csv.gz": [], "A.TSV.GZ": [], "a.csv": [], "a": ["--format", "csv"]}.items():
        (tmp_path / name).write_bytes(gzip_bytes)
        assert call("import", new_queue.name, str(tmp_path / name), *options).exit_code == 0
    assert call("import", new_queue.name, "-", "--format", "csv", input=gzip_bytes).exit_code == 0
    assert inbound_payloads(new_queue) == [{"n": 1}] * 5
    (tmp_path / "a.csv.gz").write_bytes(gzip_bytes[:-4])
    result = call("import", new_queue.name, str(tmp_path / "a.csv.gz"))
    assert (result.exit_code, "damaged or cut off" in result.stderr) == (2, True)
    (tmp_path / "a.ods.gz").write_bytes(gzip_bytes)
    assert "a spreadsheet" in call("import", new_queue.name, str(tmp_path / "a.ods.gz")).stderr


def test_a_dry_run_reports_and_imports_nothing(call: Call, new_queue: leaseq.Queue) -> None:
    command = ("import", new_queue.name, "-", "--format", "csv", "--dry-run")
    result = call(*command, input=b"n\n1\n2,2\n3\n")
    assert (result.exit_code, result.stdout) == (1, "2 can be imported, 1 rejected; nothing was imported\n")
    assert result.stderr.startswith(
        "line 3: expected as many columns as the header has (1), got 2 (separated by commas)\n"
    )
    json_result = call(*command, "--json", input=b"n\n1\n")
    assert (json_result.exit_code, json.loads(json_result.stdout)) == (0, {"readable": 1, "rejected": 0})
    assert new_queue.stats().inbound == 0


def test_rejected_rows_are_written_corrected_and_imported(
    call: Call, new_queue: leaseq.Queue, tmp_path: Path
) -> None:
    file, rejects = tmp_path / "a.csv", tmp_path / "rejects.csv"
    file.write_text("id,n,p\n1,one,5\n2,two\n3,three,high\n")
    fields = ("--id-field", "id", "--priority-field", "p", "--payload-field", "n")
    first_result = call("import", new_queue.name, str(file), *fields, "--rejects", str(rejects))
    assert (first_result.exit_code, first_result.stdout) == (1, "1 added, 0 duplicates, 2 rejected\n")
    note = f"leaseq: 2 rejected rows were written to {rejects}: correct and import that file"
    assert first_result.stderr.splitlines()[-1] == note
    assert rejects.read_bytes() == (
        b"rejected_line,rejected_reason,id,n,p\n"
        b"3,expected as many columns as the header has (3); got 2 (separated by commas),2,two\n"
        b"4,p: expected a whole number from 0 to 1000000; got 'high',3,three,high\n"
    )
    same_file_result = call("import", new_queue.name, str(rejects), *fields, "--rejects", str(rejects))
    assert (
        same_file_result.exit_code,
        "--rejects names the file that is imported" in same_file_result.stderr,
    ) == (2, True)
    rejects.write_text(rejects.read_text().replace("2,two", "2,two,").replace("high", "1"))
    second_result = call(
        "import", new_queue.name, str(rejects), *fields, "--rejects", str(tmp_path / "none.csv.gz")
    )
    assert (second_result.exit_code, second_result.stdout) == (0, "2 added, 0 duplicates, 0 rejected\n")
    assert "rejected rows" not in second_result.stderr
    assert [(item.id, item.payload, item.priority) for item in new_queue.items("inbound")] == [
        ("1", {"n": "one"}, 5),
        ("3", {"n": "three"}, 1),
        ("2", {"n": "two"}, 100),
    ]
    assert gzip.decompress((tmp_path / "none.csv.gz").read_bytes()) == b""


PEAK = """
import resource, sys
from leaseq.cli import main
main(standalone_mode=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def test_peak_memory_of_import_does_not_grow_with_file_size(
    server: Any, new_queue: leaseq.Queue, tmp_path: Path
) -> None:
    """Measured by the peak resident memory of the whole process, including the redis client."""
    path = tmp_path / "a.csv"
    peaks = []
    for count in (2_000, 60_000):
        with path.open("w") as stream:
            stream.write("n,name\n")
            stream.writelines(f'{n},"airport, {n}"\n' for n in range(count))
        peaks.append(_measure_peak(server.url, "import", new_queue.name, str(path)))
    assert new_queue.stats().inbound == 62_000
    assert peaks[1] - peaks[0] < 8_000, f"peak memory in kilobytes: {peaks}"


def _measure_peak(url: str, *args: str) -> int:
    process = subprocess.run(
        [sys.executable, "-c", PEAK, *args, "--redis", url], capture_output=True, text=True, check=True
    )
    return int(process.stderr.splitlines()[-1])


def test_workbook_is_imported_by_its_name_and_by_format(
    call: Call, new_queue: leaseq.Queue, tmp_path: Path
) -> None:
    workbook = openpyxl.Workbook()
    for row in (["id", "text", "n"], ["007", "=1+1 is\ntext", 5], ["r-2", "x", None]):
        workbook.worksheets[0].append(row)
    workbook.worksheets[0]["B2"].data_type = "s"
    workbook.create_sheet("Notes")
    file = tmp_path / "rows.xlsx"
    workbook.save(file)
    result = call("import", new_queue.name, str(file), "--id-field", "id")
    assert (result.exit_code, result.stdout.split(",")[0]) == (0, "2 added"), result.stderr
    assert new_queue.get("007").payload == {"id": "007", "text": "=1+1 is\ntext", "n": 5}
    assert "sheet 1 of 2 is read: Sheet\n" in result.stderr
    other = tmp_path / "rows"
    file.rename(other)
    result = call("import", new_queue.name, str(other), "--id-field", "id", "--format", "xlsx")
    assert "2 duplicates" in result.stdout
    other.write_bytes(other.read_bytes()[:2_000])
    result = call("import", new_queue.name, str(other), "--format", "xlsx")
    assert result.exit_code != 0
    assert new_queue.stats().inbound == 2


def test_id_with_other_content_is_a_conflict(call: Call, new_queue: leaseq.Queue, tmp_path: Path) -> None:
    rows = b"id,text\n7,first version\n7,another text with the same id\n8,x\n"
    rejects = tmp_path / "rejects.csv"
    command = ("import", new_queue.name, "-", "--format", "csv", "--id-field", "id")
    result = call(*command, "--rejects", str(rejects), input=rows)
    assert (result.exit_code, result.stdout) == (1, "2 added, 0 duplicates, 1 conflict, 0 rejected\n")
    assert result.stderr.startswith("line 3: ")
    assert "'7'" in result.stderr.splitlines()[0]
    header, row = rejects.read_text().splitlines()
    assert header == "rejected_line,rejected_reason,id,text"
    assert row.startswith("3,")
    assert row.endswith(",7,another text with the same id")
    assert new_queue.get("7").payload == {"id": "7", "text": "first version"}
    again = call(*command, "--json", input=rows)
    assert (again.exit_code, json.loads(again.stdout)) == (
        1,
        {"added": 0, "duplicates": 2, "rejected": 0, "conflicts": 1},
    )
    jsonl = call(
        "import",
        new_queue.name,
        "-",
        "--format",
        "jsonl",
        "--id-field",
        "id",
        "--json",
        input=b'{"text": "x", "id": "8"}\n{"id": "7", "text": true}\n',
    )
    assert json.loads(jsonl.stdout) == {"added": 0, "duplicates": 1, "rejected": 0, "conflicts": 1}
