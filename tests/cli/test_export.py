"""``leaseq export``, with real files and real pipes."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import leaseq
from tests.cli.conftest import Call, Spawn
from tests.support.leases import not_none
from tests.support.refused import unavailable


def work(queue: leaseq.Queue, count: int) -> None:
    for _ in range(count):
        lease = queue.reserve("alice")
        assert lease is not None
        queue.finish(lease, {"ok": True, "seen": lease.payload["n"]})


def test_answers_are_exported_in_the_order_they_were_finished(
    call: Call, new_queue: leaseq.Queue, tmp_path: Path
) -> None:
    new_queue.enqueue_many([leaseq.NewItem({"n": n}, id=f"i{n}") for n in range(3)])
    work(new_queue, 3)
    lines = [json.loads(line) for line in call("export", new_queue.name).stdout.splitlines()]
    assert [line["id"] for line in lines] == ["i0", "i1", "i2"]
    assert list(lines[0]) == [
        "id",
        "payload",
        "result",
        "person",
        "token",
        "attempt",
        "finished_at",
        "late",
        "reserved_at",
        "seconds",
        "changed",
    ]
    assert lines[1]["payload"] == {"n": 1}
    assert lines[1]["result"] == {"ok": True, "seen": 1}
    assert json.loads(call("export", new_queue.name, "--format", "json").stdout) == lines
    result = call("export", new_queue.name, str(tmp_path / "a.csv"))
    assert (result.exit_code, result.stdout) == (0, "")
    with (tmp_path / "a.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["payload.n"] for row in rows] == ["0", "1", "2"]
    assert [row["result.seen"] for row in rows] == ["0", "1", "2"]
    assert [row["finished_at"] for row in rows] == [line["finished_at"] for line in lines]


def test_export_is_readable_by_its_owner_only(call: Call, new_queue: leaseq.Queue, tmp_path: Path) -> None:
    """Also where the umask lets everybody read new files; a file that is there keeps its mode."""
    new_queue.enqueue_many([leaseq.NewItem({"n": n}, id=f"i{n}") for n in range(2)])
    work(new_queue, 1)
    umask = os.umask(0o022)
    try:
        for options in ([], ["--items", "inbound"]):
            file = tmp_path / f"new{len(options)}.csv"
            call("export", new_queue.name, str(file), *options)
            assert file.stat().st_mode & 0o777 == 0o600
        file.chmod(0o640)
        call("export", new_queue.name, str(file), "--items", "inbound")
        assert file.stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(umask)


def test_export_is_filtered_by_person_time_and_lateness(call: Call, new_queue: leaseq.Queue) -> None:
    new_queue.enqueue_many([leaseq.NewItem({"n": n}, id=f"i{n}") for n in range(2)])
    for person in ("ann", "bob"):
        new_queue.finish(not_none(new_queue.reserve(person)), {})

    def export_ids(*options: str) -> list[str]:
        result = call("export", new_queue.name, *options)
        assert result.exit_code == 0, result.stderr
        return [json.loads(line)["id"] for line in result.stdout.splitlines()]

    assert export_ids("--person", "bob") == ["i1"]
    assert export_ids("--from", "2020-01-01", "--in-time") == ["i0", "i1"]
    assert export_ids("--late") == []
    assert export_ids("--to", "2020-01-01T00:00:00Z") == []
    error_result = call("export", new_queue.name, "--from", "yesterday")
    assert (error_result.exit_code, error_result.stdout) == (2, "")
    assert "from: expected a day such as 2026-11-21" in error_result.stderr


def test_raw_cells_and_bom_are_options_of_tables(call: Call, new_queue: leaseq.Queue) -> None:
    new_queue.configure(form={"ask": {"type": "object", "properties": {"unasked": {}, "note": {}}}})
    new_queue.enqueue({"n": 1}, id="=x")
    new_queue.finish(not_none(new_queue.reserve("ann")), {"note": "=1"})
    guarded, raw = (
        call("export", new_queue.name, "--format", "csv", *options).stdout
        for options in ([], ["--raw-cells", "--bom"])
    )
    rows = [next(csv.DictReader(text.removeprefix("\ufeff").splitlines())) for text in (guarded, raw)]
    assert [(row["id"], row["result.note"], row["result.unasked"]) for row in rows] == [
        ("'=x", "'=1", ""),
        ("=x", "=1", ""),
    ]
    assert (guarded[0], raw[0]) == ("i", "\ufeff")
    items = call("export", new_queue.name, "--items", "finished", "--format", "csv", "--raw-cells", "--bom")
    assert items.stdout.startswith("\ufeffid,")
    assert "\n=x," in items.stdout
    for option in ("--raw-cells", "--bom"):
        assert call("export", new_queue.name, "--format", "jsonl", option).exit_code == 2


def test_nothing_is_exported_from_a_queue_without_answers(call: Call, new_queue: leaseq.Queue) -> None:
    assert call("export", new_queue.name).stdout == ""
    assert call("export", new_queue.name, "--format", "json").stdout == "[]\n"


def test_with_late_option_adds_late_answers(call: Call, new_queue: leaseq.Queue) -> None:
    new_queue.enqueue({"n": 1}, id="x")
    first_lease = new_queue.reserve("alice")
    assert first_lease is not None
    new_queue.release("x")
    second_lease = new_queue.reserve("bob")
    assert second_lease is not None
    with pytest.raises(leaseq.LeaseLost):
        new_queue.finish(first_lease, {"by": "alice"})
    new_queue.finish(second_lease, {"by": "bob"})
    assert [json.loads(line)["person"] for line in call("export", new_queue.name).stdout.splitlines()] == [
        "bob"
    ]
    lines = [json.loads(line) for line in call("export", new_queue.name, "--with-late").stdout.splitlines()]
    assert {(line["person"], line["late"]) for line in lines} == {("bob", False), ("alice", True)}


def test_export_exits_0_when_output_pipe_is_closed(spawn: Spawn, new_queue: leaseq.Queue) -> None:
    new_queue.configure(holds=100)
    new_queue.enqueue_many([{"n": n, "text": "x" * 2_000} for n in range(100)])
    work(new_queue, 100)
    process = spawn("export", new_queue.name)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b'{"id":')
    process.stdout.close()
    assert process.wait(60) == 0
    assert process.stderr is not None
    assert process.stderr.read() == b""


def test_unwritable_export_file_is_reported_in_one_line(
    call: Call, new_queue: leaseq.Queue, tmp_path: Path
) -> None:
    file = tmp_path / "none" / "a.csv"
    result = call("export", new_queue.name, str(file))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"leaseq: {file}: No such file or directory\n"


def test_unwritable_cursor_file_is_refused_before_export(
    call: Call, new_queue: leaseq.Queue, tmp_path: Path
) -> None:
    new_queue.enqueue({"n": 1})
    work(new_queue, 1)
    cursor_file, file = tmp_path / "none" / "reviews.cursor", tmp_path / "a.jsonl"
    result = call("export", new_queue.name, str(file), "--cursor-file", str(cursor_file))
    assert (result.exit_code, result.stderr) == (1, f"leaseq: {cursor_file}: No such file or directory\n")
    assert not file.exists()


def test_the_cursor_of_another_queue_is_refused(
    call: Call, server: Any, new_queue: leaseq.Queue, tmp_path: Path
) -> None:
    other_queue, cursor_file = (
        leaseq.Queue(server.client, f"{new_queue.name}.again"),
        tmp_path / "reviews.cursor",
    )
    other_queue.configure()
    assert call("export", new_queue.name, "--cursor-file", str(cursor_file)).exit_code == 0
    cursor = cursor_file.read_text()
    for words in (["--cursor-file", str(cursor_file)], ["--after", cursor.strip()]):
        result = call("export", other_queue.name, *words)
        assert (result.exit_code, result.stdout, cursor_file.read_text()) == (2, "", cursor)
        assert f"got one of the queue {new_queue.name!r}" in result.stderr
    assert str(cursor_file) in call("export", other_queue.name, "--cursor-file", str(cursor_file)).stderr


def test_interrupted_export_leaves_no_partial_file(
    call: Call, new_queue: leaseq.Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_queue.enqueue_many([{"n": n} for n in range(2)])
    work(new_queue, 2)
    answers = leaseq.Queue.answers

    def break_off(queue: leaseq.Queue, **options: Any) -> Any:
        yield next(iter(answers(queue, **options)))
        raise unavailable()

    monkeypatch.setattr(leaseq.Queue, "answers", break_off)
    result = call("export", new_queue.name, str(tmp_path / "a.jsonl"))
    assert (result.exit_code, result.stderr) == (1, f"leaseq: {unavailable()}\n")
    assert list(tmp_path.iterdir()) == []


def test_gz_export_is_compressed_and_can_be_imported(
    call: Call, new_queue: leaseq.Queue, tmp_path: Path
) -> None:
    new_queue.enqueue_many([leaseq.NewItem({"n": n}, id=f"i{n}") for n in range(2)])
    work(new_queue, 2)
    file = tmp_path / "a.csv.gz"
    assert call("export", new_queue.name, str(file)).stderr == f"2 answers written to {file}\n"
    rows = list(csv.DictReader(gzip.decompress(file.read_bytes()).decode().splitlines()))
    assert [row["payload.n"] for row in rows] == ["0", "1"]
    assert call("import", new_queue.name, str(file)).stdout == "2 added, 0 duplicates, 0 rejected\n"


def test_export_after_cursor_contains_only_new_answers(
    call: Call, new_queue: leaseq.Queue, tmp_path: Path
) -> None:
    def ids(result: Any) -> list[str]:
        assert result.exit_code == 0, result.stderr
        return [json.loads(line)["id"] for line in result.stdout.splitlines()]

    new_queue.enqueue_many([leaseq.NewItem({"n": n}, id=f"i{n}") for n in range(4)])
    work(new_queue, 2)
    first_result = call("export", new_queue.name, "--after", "0")
    assert ids(first_result) == ["i0", "i1"]
    cursor = first_result.stderr.removeprefix("next cursor: ").strip()
    work(new_queue, 1)
    assert ids(call("export", new_queue.name, "--after", cursor)) == ["i2"]
    cursor_file = tmp_path / "reviews.cursor"
    command = ("export", new_queue.name, "--cursor-file", str(cursor_file))
    assert (ids(call(*command)), call(*command).stdout) == (["i0", "i1", "i2"], "")
    before = cursor_file.read_text()
    new_queue.reserve("alice")
    failed_result = call(*command, str(tmp_path / "none" / "a.jsonl"))
    assert (failed_result.exit_code, cursor_file.read_text()) == (1, before)
    new_queue.release("i3")
    work(new_queue, 1)
    assert ids(call(*command)) == ["i3"]
    assert ids(call(*command, "--after", cursor)) == ["i2", "i3"]
    cursor_file.write_text("nonsense")
    assert (call(*command).exit_code, "got 'nonsense'" in call(*command).stderr) == (2, True)


@pytest.mark.parametrize(
    "options",
    [
        ["--after", "0", "--person", "bob"],
        ["--cursor-file", "x", "--in-time"],
        ["--items", "dead", "--with-late"],
        ["--items", "dead", "--after", "0"],
        ["--items", "gone"],
        ["--after", "yesterday"],
        ["--from", "2026-11-22", "--to", "2026-11-21"],
        ["--from", "2026-11-21T10:00:00Z", "--to", "2026-11-21T10:00:00Z"],
    ],
)
def test_invalid_export_options_are_refused(call: Call, new_queue: leaseq.Queue, options: list[str]) -> None:
    assert call("export", new_queue.name, *options).exit_code == 2


def test_exported_items_keep_their_fields_when_imported(
    call: Call, server: Any, new_queue: leaseq.Queue, tmp_path: Path
) -> None:
    queue = leaseq.Queue(server.client, f"{new_queue.name}.again")
    new_queue.configure(retry_seconds=60)
    new_queue.enqueue({"n": 1}, id="bad", priority=7, requires=["fr"], due=datetime(2031, 3, 1, tzinfo=UTC))
    lease = not_none(new_queue.reserve("alice", skills=["fr"]))
    new_queue.fail(lease, "cut off", retry=False)
    new_queue.enqueue("text", id="more", max_attempts=9)
    new_queue.fail(not_none(new_queue.reserve("bob")), "again")
    (dead_item,) = map(json.loads, call("export", new_queue.name, "--items", "dead").stdout.splitlines())
    assert (dead_item["id"], dead_item["state"], dead_item["last_error"]) == ("bad", "dead", "cut off")
    assert (
        dead_item["attempts"],
        dead_item["failures"],
        dead_item["held_by"],
        dead_item["max_attempts"],
    ) == (1, 1, [], None)
    queue.configure()
    for state in ("dead", "scheduled", "inbound"):
        file = str(tmp_path / f"{state}.json.gz")
        assert call("export", new_queue.name, file, "--items", state).exit_code == 0
        assert call("import", queue.name, file, "--envelope").exit_code == 0
    for id in ("bad", "more"):
        before, after = new_queue.get(id), queue.get(id)
        for name in ("payload", "priority", "requires", "due", "max_attempts"):
            assert getattr(after, name) == getattr(before, name), name
    assert (queue.get("bad").state, queue.get("bad").failures) == ("inbound", 0)
    assert abs((queue.get("more").state_since - new_queue.get("more").state_since).total_seconds()) < 0.002
    table = call("export", new_queue.name, "--items", "dead", "--format", "csv").stdout
    (row,) = csv.DictReader(table.splitlines())
    assert (row["payload.n"], row["requires"], row["last_error"]) == ("1", "fr", "cut off")


def test_import_and_export_commands_of_docs_succeed(
    call: Call, server: Any, new_queue: leaseq.Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    commands = re.findall(r"^leaseq ((?:import|export) [^|\n]+)$", page, re.MULTILINE)
    assert len(commands) == 7
    monkeypatch.chdir(tmp_path)
    Path("reviews.csv").write_text("id,text\n1,Great\n")
    Path("rows.jsonl.gz").write_bytes(gzip.compress(b"1\n"))
    Path("old.csv").write_bytes("id,text\n2,naïve\n".encode("cp1252"))
    leaseq.Queue(server.client, f"{new_queue.name}.again").configure()
    for line in commands:
        words = line.replace(" reviews ", f" {new_queue.name} ").replace(
            " again ", f" {new_queue.name}.again "
        )
        result = call(*words.split())
        assert result.exit_code == 0, f"{line}: {result.stderr}"


def test_workbook_is_written_by_file_name_and_by_format(
    call: Call, new_queue: leaseq.Queue, tmp_path: Path
) -> None:
    new_queue.enqueue({"n": "007"}, id="=x")
    new_queue.finish(not_none(new_queue.reserve("ann")), {"note": "=1"})
    file = tmp_path / "answers.xlsx"
    assert call("export", new_queue.name, str(file)).exit_code == 0
    header, row = openpyxl.load_workbook(file).worksheets[0].iter_rows(values_only=True)
    assert dict(zip(header, row, strict=True))["payload.n"] == "007"
    other = tmp_path / "items"
    options = ("--items", "finished", "--format", "xlsx")
    assert call("export", new_queue.name, str(other), *options).exit_code == 0
    with other.open("rb") as stream:
        header, row = openpyxl.load_workbook(stream).worksheets[0].iter_rows(values_only=True)
    assert dict(zip(header, row, strict=True))["id"] == "=x"
