"""``leaseq export``, with real files and real pipes."""

from __future__ import annotations

import csv
import gzip
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import leaseq
from tests.cli.conftest import Call, Spawn
from tests.support.taking import not_none


def work(queue: leaseq.Queue, count: int) -> None:
    for _ in range(count):
        lease = queue.reserve("alice")
        assert lease is not None
        queue.finish(lease, {"ok": True, "seen": lease.payload["n"]})


def test_answers_are_exported_in_the_order_they_were_finished(
    call: Call, made: leaseq.Queue, tmp_path: Path
) -> None:
    made.enqueue_many([leaseq.NewItem({"n": n}, id=f"i{n}") for n in range(3)])
    work(made, 3)
    lines = [json.loads(line) for line in call("export", made.name).stdout.splitlines()]
    assert [line["id"] for line in lines] == ["i0", "i1", "i2"]
    assert list(lines[0]) == ["id", "payload", "result", "person", "token", "attempt", "finished_at", "late"]
    assert lines[1]["payload"] == {"n": 1}
    assert lines[1]["result"] == {"ok": True, "seen": 1}
    assert json.loads(call("export", made.name, "--format", "json").stdout) == lines
    result = call("export", made.name, str(tmp_path / "a.csv"))
    assert (result.exit_code, result.stdout) == (0, "")
    with (tmp_path / "a.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["payload.n"] for row in rows] == ["0", "1", "2"]
    assert [row["result.seen"] for row in rows] == ["0", "1", "2"]
    assert [row["finished_at"] for row in rows] == [line["finished_at"] for line in lines]


def test_what_is_exported_may_be_of_a_person_a_time_late_or_not(call: Call, made: leaseq.Queue) -> None:
    made.enqueue_many([leaseq.NewItem({"n": n}, id=f"i{n}") for n in range(2)])
    for person in ("ann", "bob"):
        made.finish(not_none(made.reserve(person)), {})

    def exported(*asked: str) -> list[str]:
        result = call("export", made.name, *asked)
        assert result.exit_code == 0, result.stderr
        return [json.loads(line)["id"] for line in result.stdout.splitlines()]

    assert exported("--person", "bob") == ["i1"]
    assert exported("--from", "2020-01-01", "--in-time") == ["i0", "i1"]
    assert exported("--late") == []
    assert exported("--to", "2020-01-01T00:00:00Z") == []
    refused = call("export", made.name, "--from", "yesterday")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "from: a day such as 2026-11-21" in refused.stderr


def test_nothing_is_exported_from_a_queue_without_answers(call: Call, made: leaseq.Queue) -> None:
    assert call("export", made.name).stdout == ""
    assert call("export", made.name, "--format", "json").stdout == "[]\n"


def test_late_answers_are_added_where_asked_for(call: Call, made: leaseq.Queue) -> None:
    made.enqueue({"n": 1}, id="x")
    first = made.reserve("alice")
    assert first is not None
    made.release("x")
    second = made.reserve("bob")
    assert second is not None
    with pytest.raises(leaseq.LeaseLost):
        made.finish(first, {"by": "alice"})
    made.finish(second, {"by": "bob"})
    assert [json.loads(line)["person"] for line in call("export", made.name).stdout.splitlines()] == ["bob"]
    lines = [json.loads(line) for line in call("export", made.name, "--with-late").stdout.splitlines()]
    assert {(line["person"], line["late"]) for line in lines} == {("bob", False), ("alice", True)}


def test_a_reader_that_has_had_enough_ends_the_export_quietly(spawn: Spawn, made: leaseq.Queue) -> None:
    made.configure(holds=100)
    made.enqueue_many([{"n": n, "text": "x" * 2_000} for n in range(100)])
    work(made, 100)
    process = spawn("export", made.name)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b'{"id":')
    process.stdout.close()
    assert process.wait(60) == 0
    assert process.stderr is not None
    assert process.stderr.read() == b""


def test_an_export_that_can_not_be_written_is_a_failure_in_one_line(
    call: Call, made: leaseq.Queue, tmp_path: Path
) -> None:
    file = tmp_path / "none" / "a.csv"
    result = call("export", made.name, str(file))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"leaseq: {file}: No such file or directory\n"


def test_a_cursor_that_can_not_be_kept_is_noticed_before_anything_is_exported(
    call: Call, made: leaseq.Queue, tmp_path: Path
) -> None:
    made.enqueue({"n": 1})
    work(made, 1)
    kept, file = tmp_path / "none" / "reviews.cursor", tmp_path / "a.jsonl"
    result = call("export", made.name, str(file), "--cursor-file", str(kept))
    assert (result.exit_code, result.stderr) == (1, f"leaseq: {kept}: No such file or directory\n")
    assert not file.exists()


def test_the_cursor_of_another_queue_is_refused(
    call: Call, server: Any, made: leaseq.Queue, tmp_path: Path
) -> None:
    another, kept = leaseq.Queue(server.client, f"{made.name}.again"), tmp_path / "reviews.cursor"
    another.configure()
    assert call("export", made.name, "--cursor-file", str(kept)).exit_code == 0
    cursor = kept.read_text()
    for words in (["--cursor-file", str(kept)], ["--after", cursor.strip()]):
        refused = call("export", another.name, *words)
        assert (refused.exit_code, refused.stdout, kept.read_text()) == (2, "", cursor)
        assert f"this one is of the queue {made.name!r}" in refused.stderr
    assert str(kept) in call("export", another.name, "--cursor-file", str(kept)).stderr


def test_a_server_that_goes_away_half_way_leaves_no_half_export(
    call: Call, made: leaseq.Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.enqueue_many([{"n": n} for n in range(2)])
    work(made, 2)
    answers = leaseq.Queue.answers

    def half(queue: leaseq.Queue, **options: Any) -> Any:
        yield next(iter(answers(queue, **options)))
        raise leaseq.ServerUnavailable("the server went away")

    monkeypatch.setattr(leaseq.Queue, "answers", half)
    result = call("export", made.name, str(tmp_path / "a.jsonl"))
    assert (result.exit_code, result.stderr) == (1, "leaseq: the server went away\n")
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_ends_with_gz_is_gzipped_and_is_imported_again(
    call: Call, made: leaseq.Queue, tmp_path: Path
) -> None:
    made.enqueue_many([leaseq.NewItem({"n": n}, id=f"i{n}") for n in range(2)])
    work(made, 2)
    file = tmp_path / "a.csv.gz"
    assert call("export", made.name, str(file)).stderr == f"2 answers written to {file}\n"
    rows = list(csv.DictReader(gzip.decompress(file.read_bytes()).decode().splitlines()))
    assert [row["payload.n"] for row in rows] == ["0", "1"]
    assert call("import", made.name, str(file)).stdout == "2 added, 0 duplicates, 0 rejected\n"


def test_each_export_since_a_cursor_has_what_is_new(call: Call, made: leaseq.Queue, tmp_path: Path) -> None:
    def ids(result: Any) -> list[str]:
        assert result.exit_code == 0, result.stderr
        return [json.loads(line)["id"] for line in result.stdout.splitlines()]

    made.enqueue_many([leaseq.NewItem({"n": n}, id=f"i{n}") for n in range(4)])
    work(made, 2)
    first = call("export", made.name, "--after", "0")
    assert ids(first) == ["i0", "i1"]
    cursor = first.stderr.removeprefix("next cursor: ").strip()
    work(made, 1)
    assert ids(call("export", made.name, "--after", cursor)) == ["i2"]
    kept = tmp_path / "reviews.cursor"
    file = ("export", made.name, "--cursor-file", str(kept))
    assert (ids(call(*file)), call(*file).stdout) == (["i0", "i1", "i2"], "")
    before = kept.read_text()
    made.reserve("alice")
    unwritten = call(*file, str(tmp_path / "none" / "a.jsonl"))
    assert (unwritten.exit_code, kept.read_text()) == (1, before)
    made.release("i3")
    work(made, 1)
    assert ids(call(*file)) == ["i3"]
    assert ids(call(*file, "--after", cursor)) == ["i2", "i3"]
    kept.write_text("nonsense")
    assert (call(*file).exit_code, "this is 'nonsense'" in call(*file).stderr) == (2, True)


@pytest.mark.parametrize(
    "wrong",
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
def test_what_does_not_go_together_is_refused(call: Call, made: leaseq.Queue, wrong: list[str]) -> None:
    assert call("export", made.name, *wrong).exit_code == 2


def test_items_of_a_state_are_exported_with_their_error_and_read_back(
    call: Call, server: Any, made: leaseq.Queue, tmp_path: Path
) -> None:
    queue = leaseq.Queue(server.client, f"{made.name}.again")
    made.configure(retry_seconds=60)
    made.enqueue({"n": 1}, id="bad", priority=7, requires=["fr"], due=datetime(2031, 3, 1, tzinfo=UTC))
    lease = not_none(made.reserve("alice", skills=["fr"]))
    made.fail(lease, "cut off", retry=False)
    made.enqueue("text", id="more", max_attempts=9)
    made.fail(not_none(made.reserve("bob")), "again")
    (dead,) = map(json.loads, call("export", made.name, "--items", "dead").stdout.splitlines())
    assert (dead["id"], dead["state"], dead["last_error"]) == ("bad", "dead", "cut off")
    assert (dead["attempts"], dead["failures"], dead["held_by"], dead["max_attempts"]) == (1, 1, [], None)
    queue.configure()
    for state in ("dead", "scheduled", "inbound"):
        file = str(tmp_path / f"{state}.json.gz")
        assert call("export", made.name, file, "--items", state).exit_code == 0
        assert call("import", queue.name, file, "--envelope").exit_code == 0
    for id in ("bad", "more"):
        before, after = made.get(id), queue.get(id)
        for name in ("payload", "priority", "requires", "due", "max_attempts"):
            assert getattr(after, name) == getattr(before, name), name
    assert (queue.get("bad").state, queue.get("bad").failures) == ("inbound", 0)
    assert abs((queue.get("more").state_since - made.get("more").state_since).total_seconds()) < 0.002
    table = call("export", made.name, "--items", "dead", "--format", "csv").stdout
    (row,) = csv.DictReader(table.splitlines())
    assert (row["payload.n"], row["requires"], row["last_error"]) == ("1", "fr", "cut off")


def test_what_the_docs_type_works(
    call: Call, server: Any, made: leaseq.Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    typed = re.findall(r"^leaseq ((?:import|export) [^|\n]+)$", page, re.MULTILINE)
    assert len(typed) == 7
    monkeypatch.chdir(tmp_path)
    Path("reviews.csv").write_text("id,text\n1,Great\n")
    Path("rows.jsonl.gz").write_bytes(gzip.compress(b"1\n"))
    Path("old.csv").write_bytes("id,text\n2,naïve\n".encode("cp1252"))
    leaseq.Queue(server.client, f"{made.name}.again").configure()
    for line in typed:
        words = line.replace(" reviews ", f" {made.name} ").replace(" again ", f" {made.name}.again ")
        result = call(*words.split())
        assert result.exit_code == 0, f"{line}: {result.stderr}"
