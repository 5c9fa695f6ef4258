"""``leaseq queue`` and ``leaseq stats``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import leaseq
from tests.cli.conftest import Call, Spawn
from tests.support.leases import not_none


def test_queue_is_created_with_policy_and_shown(
    call: Call, server: Any, queue_name: str, tmp_path: Path
) -> None:
    form = {"ask": {"type": "object", "properties": {"ok": {"type": "boolean"}}}}
    (tmp_path / "form.json").write_text(json.dumps(form))
    options = ["--lease-seconds", "12.5", "--max-attempts", "4", "--bands", "10", "20", "--share-drafts"]
    options += ["--renewals", "3", "--title", "Hé", "--form", str(tmp_path / "form.json")]
    assert call("queue", "create", queue_name, *options).exit_code == 0
    policy = leaseq.Queue(server.client, queue_name).policy
    assert policy == leaseq.Policy(
        lease_seconds=12.5,
        max_attempts=4,
        bands=(10, 20),
        share_drafts=True,
        renewals=3,
        title="Hé",
        form=form,
    )
    queue_view = json.loads(call("queue", "show", queue_name, "--json").stdout)
    assert queue_view["policy"]["lease_seconds"] == 12.5
    assert queue_view["policy"]["form"] == form
    assert queue_view["stats"]["inbound"] == 0
    assert "Hé" in call("queue", "show", queue_name).stdout


def test_set_changes_only_given_fields(call: Call, server: Any, queue_name: str, tmp_path: Path) -> None:
    (tmp_path / "form.json").write_text("{}")
    call(
        "queue",
        "create",
        queue_name,
        "--renewals",
        "3",
        "--holds",
        "2",
        "--form",
        str(tmp_path / "form.json"),
    )
    assert call("queue", "set", queue_name, "--renewals", "none", "--form", "none").exit_code == 0
    assert leaseq.Queue(server.client, queue_name).policy == leaseq.Policy(holds=2)


def test_create_of_existing_queue_is_refused(call: Call, queue_name: str) -> None:
    call("queue", "create", queue_name, "--holds", "2")
    result = call("queue", "create", queue_name)
    assert result.exit_code == 1
    assert result.stderr == (
        f"leaseq: there is already a queue '{queue_name}'; change it with `leaseq queue set {queue_name}`\n"
    )


@pytest.mark.parametrize(
    "options",
    [
        ["--lease-seconds", "0"],
        ["--lease-seconds", "x"],
        ["--bands", "20", "10"],
        ["--renewals", "x"],
        ["--form", "/nowhere/form.json"],
        ["--unknown", "1"],
        ["--title", "x" * 300],
        ["--alerts", "waiting"],
        ["--alerts", "waiting>00"],
        ["--alerts", "late>5"],
        ["--alerts", "waiting>5 waiting>6"],
    ],
)
def test_invalid_policy_exits_2_and_creates_no_queue(
    call: Call, server: Any, queue_name: str, options: list[str]
) -> None:
    result = call("queue", "create", queue_name, *options)
    assert result.exit_code == 2
    assert not leaseq.Queue(server.client, queue_name).exists()


@pytest.mark.parametrize(
    "text", [b"{", b'{"ask": NaN}', b'{"a":1,"a":2}', b"\xff", b'{"ask":{"$ref":"http://example.org/x"}}']
)
def test_invalid_form_exits_2_and_creates_no_queue(
    call: Call, server: Any, queue_name: str, tmp_path: Path, text: bytes
) -> None:
    (tmp_path / "form.json").write_bytes(text)
    result = call("queue", "create", queue_name, "--form", str(tmp_path / "form.json"))
    assert result.exit_code == 2
    assert "form" in result.stderr
    assert not leaseq.Queue(server.client, queue_name).exists()


def test_set_without_options_exits_2(call: Call, queue_name: str) -> None:
    call("queue", "create", queue_name)
    assert call("queue", "set", queue_name).exit_code == 2


def test_a_queue_is_paused_and_resumed(call: Call, server: Any, queue_name: str) -> None:
    call("queue", "create", queue_name)
    queue = leaseq.Queue(server.client, queue_name)
    queue.enqueue({"x": 1})
    assert call("queue", "pause", queue_name, "--reason", "lunch").exit_code == 0
    assert queue.reserve("alice") is None
    assert "lunch" in call("stats", queue_name).stdout
    assert call("queue", "resume", queue_name).exit_code == 0
    assert queue.reserve("alice") is not None


def test_stats_and_list_show_counts_by_state(call: Call, server: Any, queue_name: str) -> None:
    call("queue", "create", queue_name, "--title", "Reviews")
    queue = leaseq.Queue(server.client, queue_name)
    queue.enqueue_many([{"n": n} for n in range(5)])
    queue.enqueue({"n": 6}, delay=60)
    lease = queue.reserve("alice")
    assert lease is not None
    queue.finish(lease, {"ok": True})
    queue.reserve("bob")
    [stats_row] = json.loads(call("stats", queue_name, "--json").stdout)["queues"]
    assert stats_row["name"] == queue_name
    assert [stats_row[state] for state in ("inbound", "reserved", "scheduled", "finished", "dead")] == [
        3,
        1,
        1,
        1,
        0,
    ]
    assert stats_row["counters"]["enqueued"] == 6
    header, row = (line.split() for line in call("stats", queue_name).stdout.splitlines())
    assert header[:6] == ["queue", "inbound", "reserved", "scheduled", "finished", "dead"]
    assert row[:6] == [queue_name, "3", "1", "1", "1", "0"]
    list_rows = {
        list_row["name"]: list_row
        for list_row in json.loads(call("queue", "list", "--json").stdout)["queues"]
    }
    assert list_rows[queue_name]["title"] == "Reviews"
    assert list_rows[queue_name]["stats"]["inbound"] == 3
    assert f"{queue_name}  " in call("queue", "list").stdout


def test_alerts_are_set_raised_by_clear_and_shown(call: Call, server: Any, queue_name: str) -> None:
    call("queue", "create", queue_name, "--alerts", "oldest>3600, waiting > 1")
    queue = leaseq.Queue(server.client, queue_name)
    assert queue.policy.alerts == ("waiting>1", "oldest>3600")
    queue.enqueue_many([1, 2])
    assert call("stats", queue_name).stdout.splitlines()[0].endswith("paused  alerts")
    call("clear", queue_name)
    assert call("stats", queue_name).stdout.splitlines()[1].endswith(" waiting>1")
    [stats_row] = json.loads(call("stats", queue_name, "--json").stdout)["queues"]
    assert [(alert["name"], alert["limit"], alert["value"]) for alert in stats_row["alerts"]] == [
        ("waiting", 1, 2)
    ]
    assert stats_row["alerts"][0]["since"].endswith("Z")
    text = call("queue", "show", queue_name).stdout
    assert '  alerts                 ["waiting>1", "oldest>3600"]\n' in text
    assert text.endswith("  raised alerts          waiting>1\n")
    assert call("queue", "set", queue_name, "--alerts", "").exit_code == 0
    assert leaseq.Queue(server.client, queue_name).policy == leaseq.Policy()
    call("clear", queue_name)
    assert queue.alerts() == ()


def test_stats_watch_exits_0_when_output_pipe_is_closed(spawn: Spawn, server: Any, queue_name: str) -> None:
    leaseq.Queue(server.client, queue_name).configure()
    process = spawn("stats", queue_name, "--watch", "--every", "0.1", "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    assert json.loads(process.stdout.readline())["queues"][0]["name"] == queue_name
    process.stdout.close()
    assert process.wait(60) == 0
    assert process.stderr.read() == b""


def test_set_says_how_many_items_need_more_answers(call: Call, server: Any, queue_name: str) -> None:
    queue = leaseq.Queue(server.client, queue_name)
    queue.configure(answers=3)
    for id in ("one", "two"):
        queue.enqueue({}, id=id)
        for person in ("ann", "bob"):
            queue.finish(not_none(queue.reserve(person)), 1)
    assert "2 items" in call("queue", "set", queue_name, "--answers", "2").stderr
    for id in ("one", "two"):
        queue.change(id, answers=2)
    assert call("queue", "set", queue_name, "--answers", "2").stderr == ""
