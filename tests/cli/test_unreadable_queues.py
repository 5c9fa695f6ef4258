"""Lists of queues show a queue that needs a newer version of leaseq, and all other queues."""

from __future__ import annotations

import json

import pytest

import leaseq
from tests.cli.conftest import Call


@pytest.fixture(autouse=True)
def configure_queue(queue: leaseq.Queue, unreadable_queue: leaseq.Queue) -> None:
    queue.configure(title="Of today")
    queue.enqueue({"n": 1}, id="one")


@pytest.mark.parametrize("command", [["queue", "list"], ["stats"]])
def test_queue_list_and_stats_show_unreadable_queue(
    call: Call, unreadable_queue: leaseq.Queue, queue: leaseq.Queue, command: list[str]
) -> None:
    result = call(*command)
    assert result.exit_code == 0
    assert f"\n{queue.name}  " in result.stdout
    line = result.stdout.partition(f"\n{unreadable_queue.name} ")[2].partition("\n")[0]
    assert line.endswith(" (needs a newer version of leaseq)")
    body = json.loads(call(*command, "--json").stdout)
    assert queue.name in [row["name"] for row in body["queues"]]
    (unreadable_row,) = body["unreadable"]
    assert unreadable_row["name"] == unreadable_queue.name
    assert "newer version of leaseq" in unreadable_row["detail"]


def test_command_on_unreadable_queue_exits_1(call: Call, unreadable_queue: leaseq.Queue) -> None:
    for command in (["stats"], ["queue", "show"]):
        result = call(*command, unreadable_queue.name)
        assert result.exit_code == 1
        assert "newer version of leaseq" in result.stderr


def test_similar_title_is_warned_about_despite_unreadable_queue(call: Call, queue: leaseq.Queue) -> None:
    queue.configure(title=queue.name)
    result = call("queue", "create", f"{queue.name}-2", "--title", queue.name)
    assert result.exit_code == 0
    assert f"looks like that of queue {queue.name!r}" in result.stderr
    assert call("queue", "set", f"{queue.name}-2", "--title", "Of yesterday").exit_code == 0
