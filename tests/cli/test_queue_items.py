"""``leaseq queue`` on items: revive, cancel and remove, and delete with all items."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from tests.cli.conftest import Call
from tests.support.leases import not_none


@pytest.fixture
def queue_of_dead(server: Any, queue_name: str) -> leaseq.Queue:
    """A queue with three dead items: two failed by ann, one by bob."""
    queue = leaseq.Queue(server.client, queue_name)
    queue.configure(max_attempts=1)
    for person, id, error in (("ann", "a", "cut off"), ("bob", "b", "cut off"), ("ann", "c", "blank")):
        queue.enqueue({}, id=id)
        lease = queue.reserve(person)
        assert lease is not None
        queue.fail(lease, error)
    return queue


@pytest.mark.parametrize(
    ("words", "revived_ids"),
    [
        (["--all"], ["a", "b", "c"]),
        (["--error", "cut off"], ["a", "b"]),
        (["--error", "cut off", "--person", "bob"], ["b"]),
        (["--person", "ann"], ["a", "c"]),
        (["c", "b"], ["b", "c"]),
    ],
)
def test_dead_items_are_revived_by_id_or_filter(
    call: Call, queue_of_dead: leaseq.Queue, words: list[str], revived_ids: list[str]
) -> None:
    result = call("queue", "revive", queue_of_dead.name, *words)
    assert (result.exit_code, result.stdout) == (
        0,
        f"queue '{queue_of_dead.name}': {len(revived_ids)} revived\n",
    )
    assert sorted(item.id for item in queue_of_dead.items("inbound")) == revived_ids


def test_revive_all_continues_after_each_batch(
    call: Call, queue_of_dead: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.cli.queues._STEP", 1)
    assert "3 revived" in call("queue", "revive", queue_of_dead.name, "--all").stdout


def test_revive_reports_unknown_item_and_revives_others(call: Call, queue_of_dead: leaseq.Queue) -> None:
    result = call("queue", "revive", queue_of_dead.name, "a", "nobody", "b")
    assert result.exit_code == 1
    assert "2 revived" in result.stdout
    assert "no item 'nobody'" in result.stderr
    assert "1 of the 3 items named" in result.stderr
    assert queue_of_dead.stats().inbound == 2


@pytest.mark.parametrize(
    "words", [[], ["a", "--error", "cut"], ["a", "--all"], ["--all", "--person", "ann"]], ids=" ".join
)
def test_revive_requires_exactly_one_way_to_select_items(
    call: Call, queue_of_dead: leaseq.Queue, words: list[str]
) -> None:
    """A call must name items in exactly one way; without any it is refused, so that nothing is revived by
    mistake."""
    result = call("queue", "revive", queue_of_dead.name, *words)
    assert result.exit_code == 2
    assert "--all" in result.stderr
    assert queue_of_dead.stats().dead == 3


@pytest.mark.parametrize(
    ("words", "remaining"),
    [(["--all"], 0), (["--error", "cut off"], 1), (["--person", "bob", "--error", "c"], 2)],
)
def test_items_of_a_state_are_removed(
    call: Call, queue_of_dead: leaseq.Queue, words: list[str], remaining: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.cli.queues._STEP", 1)
    result = call("queue", "remove", queue_of_dead.name, "dead", "--yes", *words)
    assert (result.exit_code, result.stdout) == (
        0,
        f"queue '{queue_of_dead.name}': {3 - remaining} removed\n",
    )
    assert queue_of_dead.stats().dead == remaining


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
def test_remove_without_valid_state_and_selection_is_refused(
    call: Call, queue_of_dead: leaseq.Queue, words: list[str]
) -> None:
    assert call("queue", "remove", queue_of_dead.name, "--yes", *words).exit_code == 2
    assert queue_of_dead.stats().dead == 3


def test_delete_prints_counts_of_deleted_items(call: Call, queue_of_dead: leaseq.Queue) -> None:
    queue_of_dead.enqueue_many([{}, {}])
    queue_of_dead.reserve("ann")
    refused_result = call("queue", "delete", queue_of_dead.name)
    assert refused_result.exit_code == 2
    assert "with 5 items, 1 of them held and 0 finished? Add --yes" in refused_result.stderr
    assert call("queue", "remove", queue_of_dead.name, "dead", "--all").exit_code == 2
    assert queue_of_dead.stats().dead == 3
    result = call("queue", "delete", queue_of_dead.name, "--yes")
    assert (result.exit_code, result.stdout) == (
        0,
        f"queue '{queue_of_dead.name}' is deleted: 5 items, 1 of them held and 0 finished\n",
    )
    second_result = call("queue", "delete", queue_of_dead.name, "--yes")
    assert (second_result.exit_code, second_result.stdout) == (1, "")
    assert "it was deleted" in second_result.stderr


@pytest.mark.parametrize(("line", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1)])
def test_delete_asks_for_confirmation_on_terminal(
    call: Call, queue_of_dead: leaseq.Queue, monkeypatch: pytest.MonkeyPatch, line: bytes, code: int
) -> None:
    monkeypatch.setattr("leaseq.cli.common._is_terminal", lambda: True)
    result = call("queue", "delete", queue_of_dead.name, input=line)
    assert result.exit_code == code
    assert "with 3 items, 0 of them held and 0 finished? [y/N]" in result.stdout
    assert queue_of_dead.exists() == (code == 1)


def test_delete_completes_interrupted_deletion(call: Call, queue_of_dead: leaseq.Queue) -> None:
    queue_of_dead._commands.run("delete", "")
    result = call("queue", "delete", queue_of_dead.name)
    assert (result.exit_code, result.stdout) == (0, f"queue '{queue_of_dead.name}' is deleted\n")


def test_revive_on_unknown_queue_exits_1(call: Call, queue_name: str) -> None:
    assert call("queue", "revive", queue_name, "--all").exit_code == 1


def test_cancel_ends_items_and_reports_those_that_are_finished(
    call: Call, queue_of_dead: leaseq.Queue
) -> None:
    for id in ("done", "held", "waiting"):
        queue_of_dead.enqueue({}, id=id)
    queue_of_dead.finish(not_none(queue_of_dead.reserve("eva")), {})
    queue_of_dead.reserve("eva")
    result = call("queue", "cancel", queue_of_dead.name, "held", "done", "waiting", "--reason", "withdrawn")
    assert result.exit_code == 1
    assert "2 cancelled" in result.stdout
    assert "1 of the 3 items named" in result.stderr
    ended = [queue_of_dead.get(id) for id in ("held", "waiting")]
    assert [(item.died_of, item.last_error) for item in ended] == [("cancelled", "withdrawn")] * 2
