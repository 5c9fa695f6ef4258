"""A queue that needs a newer version of leaseq is named wherever all queues are shown, and hides none."""

from __future__ import annotations

import json

import pytest

import leaseq
from tests.cli.conftest import Call


@pytest.fixture(autouse=True)
def both(queue: leaseq.Queue, unreadable: leaseq.Queue) -> None:
    queue.configure(title="Of today")
    queue.enqueue({"n": 1}, id="one")


@pytest.mark.parametrize("command", [["queue", "list"], ["stats"]])
def test_lists(call: Call, unreadable: leaseq.Queue, queue: leaseq.Queue, command: list[str]) -> None:
    done = call(*command)
    assert done.exit_code == 0
    assert f"\n{queue.name}  " in done.stdout
    line = done.stdout.partition(f"\n{unreadable.name} ")[2].partition("\n")[0]
    assert line.endswith(" (needs a newer version of leaseq)")
    found = json.loads(call(*command, "--json").stdout)
    assert queue.name in [one["name"] for one in found["queues"]]
    (wrong,) = found["unreadable"]
    assert wrong["name"] == unreadable.name
    assert "Use a newer version of leaseq" in wrong["detail"]


def test_a_queue_that_is_named_is_an_error(call: Call, unreadable: leaseq.Queue) -> None:
    for command in (["stats"], ["queue", "show"]):
        done = call(*command, unreadable.name)
        assert done.exit_code == 1
        assert "Use a newer version of leaseq" in done.stderr


def test_the_warning_of_titles_that_look_alike(call: Call, queue: leaseq.Queue) -> None:
    queue.configure(title=queue.name)
    done = call("queue", "create", f"{queue.name}-2", "--title", queue.name)
    assert done.exit_code == 0
    assert f"looks like that of queue {queue.name!r}" in done.stderr
    assert call("queue", "set", f"{queue.name}-2", "--title", "Of yesterday").exit_code == 0
