"""A queue that needs a newer version of leaseq is named wherever all queues are listed; it hides no other."""

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
def test_lists(call: Call, unreadable_queue: leaseq.Queue, queue: leaseq.Queue, command: list[str]) -> None:
    result = call(*command)
    assert result.exit_code == 0
    assert f"\n{queue.name}  " in result.stdout
    line = result.stdout.partition(f"\n{unreadable_queue.name} ")[2].partition("\n")[0]
    assert line.endswith(" (needs a newer version of leaseq)")
    body = json.loads(call(*command, "--json").stdout)
    assert queue.name in [row["name"] for row in body["queues"]]
    (unreadable_row,) = body["unreadable"]
    assert unreadable_row["name"] == unreadable_queue.name
    assert "Use a newer version of leaseq" in unreadable_row["detail"]


def test_a_queue_that_is_named_is_an_error(call: Call, unreadable_queue: leaseq.Queue) -> None:
    for command in (["stats"], ["queue", "show"]):
        result = call(*command, unreadable_queue.name)
        assert result.exit_code == 1
        assert "Use a newer version of leaseq" in result.stderr


def test_the_warning_of_titles_that_look_alike(call: Call, queue: leaseq.Queue) -> None:
    queue.configure(title=queue.name)
    result = call("queue", "create", f"{queue.name}-2", "--title", queue.name)
    assert result.exit_code == 0
    assert f"looks like that of queue {queue.name!r}" in result.stderr
    assert call("queue", "set", f"{queue.name}-2", "--title", "Of yesterday").exit_code == 0
