"""``leaseq queue`` on items: revive, remove; and delete with all of them."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from tests.cli.conftest import Call


@pytest.fixture
def dead(server: Any, queue_name: str) -> leaseq.Queue:
    """Three dead items: two that ann failed, one that bob did."""
    queue = leaseq.Queue(server.client, queue_name)
    queue.configure(max_attempts=1)
    for person, id, error in (("ann", "a", "cut off"), ("bob", "b", "cut off"), ("ann", "c", "blank")):
        queue.enqueue({}, id=id)
        lease = queue.reserve(person)
        assert lease is not None
        queue.fail(lease, error)
    return queue


@pytest.mark.parametrize(
    ("words", "back"),
    [
        (["--all"], ["a", "b", "c"]),
        (["--error", "cut off"], ["a", "b"]),
        (["--error", "cut off", "--person", "bob"], ["b"]),
        (["--person", "ann"], ["a", "c"]),
        (["c", "b"], ["b", "c"]),
    ],
)
def test_dead_items_are_revived_by_name_or_by_a_filter(
    call: Call, dead: leaseq.Queue, words: list[str], back: list[str]
) -> None:
    result = call("queue", "revive", dead.name, *words)
    assert (result.exit_code, result.stdout) == (0, f"queue '{dead.name}': {len(back)} revived\n")
    assert sorted(item.id for item in dead.items("inbound")) == back


def test_reviving_goes_on_where_one_look_ends(
    call: Call, dead: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.cli.queues._STEP", 1)
    assert "3 revived" in call("queue", "revive", dead.name, "--all").stdout


def test_an_item_that_can_not_be_revived_is_told_and_the_others_come_back(
    call: Call, dead: leaseq.Queue
) -> None:
    result = call("queue", "revive", dead.name, "a", "nobody", "b")
    assert result.exit_code == 1
    assert "2 revived" in result.stdout
    assert "no item 'nobody'" in result.stderr
    assert "1 of the 3 items named" in result.stderr
    assert dead.stats().inbound == 2


@pytest.mark.parametrize(
    "words", [[], ["a", "--error", "cut"], ["a", "--all"], ["--all", "--person", "ann"]], ids=" ".join
)
def test_which_dead_items_are_meant_is_said_in_one_way(
    call: Call, dead: leaseq.Queue, words: list[str]
) -> None:
    """And by no words at all it is not said, so that nothing comes back by a slip."""
    result = call("queue", "revive", dead.name, *words)
    assert result.exit_code == 2
    assert "--all" in result.stderr
    assert dead.stats().dead == 3


@pytest.mark.parametrize(
    ("words", "left"), [(["--all"], 0), (["--error", "cut off"], 1), (["--person", "bob", "--error", "c"], 2)]
)
def test_items_of_a_state_are_removed(
    call: Call, dead: leaseq.Queue, words: list[str], left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.cli.queues._STEP", 1)
    result = call("queue", "remove", dead.name, "dead", "--yes", *words)
    assert (result.exit_code, result.stdout) == (0, f"queue '{dead.name}': {3 - left} removed\n")
    assert dead.stats().dead == left


@pytest.mark.parametrize(
    "words",
    [
        ["dead"],
        ["dead", "--all", "--error", "x"],
        ["lost", "--all"],
        ["--all"],
    ],
    ids=" ".join,
)
def test_what_is_removed_is_said_in_one_way(call: Call, dead: leaseq.Queue, words: list[str]) -> None:
    assert call("queue", "remove", dead.name, "--yes", *words).exit_code == 2
    assert dead.stats().dead == 3


def test_a_queue_is_deleted_and_what_goes_is_said(call: Call, dead: leaseq.Queue) -> None:
    dead.enqueue_many([{}, {}])
    dead.reserve("ann")
    refused = call("queue", "delete", dead.name)
    assert refused.exit_code == 2
    assert "with 5 items, 1 of them held and 0 finished? Add --yes" in refused.stderr
    assert call("queue", "remove", dead.name, "dead", "--all").exit_code == 2
    assert dead.stats().dead == 3
    done = call("queue", "delete", dead.name, "--yes")
    assert (done.exit_code, done.stdout) == (
        0,
        f"queue '{dead.name}' is deleted: 5 items, 1 of them held and 0 finished\n",
    )
    again = call("queue", "delete", dead.name, "--yes")
    assert (again.exit_code, again.stdout) == (1, "")
    assert "it was deleted" in again.stderr


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1)])
def test_on_a_terminal_it_is_asked(
    call: Call, dead: leaseq.Queue, monkeypatch: pytest.MonkeyPatch, answer: bytes, code: int
) -> None:
    monkeypatch.setattr("leaseq.cli.common._is_terminal", lambda: True)
    result = call("queue", "delete", dead.name, input=answer)
    assert result.exit_code == code
    assert "with 3 items, 0 of them held and 0 finished? [y/N]" in result.stdout
    assert dead.exists() == (code == 1)


def test_a_deletion_that_was_broken_off_is_finished(call: Call, dead: leaseq.Queue) -> None:
    dead._commands.delete("")
    result = call("queue", "delete", dead.name)
    assert (result.exit_code, result.stdout) == (0, f"queue '{dead.name}' is deleted\n")


def test_a_queue_that_is_not_there_has_nothing_to_revive(call: Call, queue_name: str) -> None:
    assert call("queue", "revive", queue_name, "--all").exit_code == 1
