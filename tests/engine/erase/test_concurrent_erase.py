"""erase_person when it is interrupted, while the person keeps working, or while the server is restarted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.replies import Reply
from tests.conftest import Server
from tests.engine import server_contents
from tests.engine.erase.conftest import IDS, NAME
from tests.support.leases import take
from tests.support.refused import refused, unavailable
from tests.support.script_calls import replace_calls

Run = Callable[..., Any]


@pytest.mark.parametrize("step", [1, 2, 4])
def test_interrupted_erase_is_completed_by_next_erase(
    full: leaseq.Queue, server: Server, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    for n in range(400):  # so that it takes several steps
        full.enqueue({"n": n, "long": "x" * 100})
    calls = 0

    def fail_after_steps(run: Run, *arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > step:
            raise unavailable()
        return run(*arguments)

    with monkeypatch.context() as patch:
        replace_calls(patch, "erase_person", fail_after_steps)
        with pytest.raises(leaseq.ServerUnavailable):
            full.erase_person(NAME, "erased-1")
    assert full.mine(NAME) == []
    full.erase_person(NAME, "erased-1")
    assert server_contents.naming(server.redis, full.name, NAME) == {"journal"}


def test_person_who_reserves_during_erase_is_erased_again(
    full: leaseq.Queue, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(100):
        full.enqueue({"n": n, "long": "x" * 100})
    reserve_count = 0

    def reserve_and_erase(run: Run, person: str, to: str, by: str, step: str, count: int) -> Any:
        nonlocal reserve_count
        if step and reserve_count < 2:
            reserve_count += 1
            assert full.reserve(NAME, skills=IDS)
        return run(person, to, by, step, count)

    replace_calls(monkeypatch, "erase_person", reserve_and_erase)
    assert full.erase_person(NAME, "erased-1").leases >= 2
    assert server_contents.naming(server.redis, full.name, NAME) == {"journal"}


@pytest.fixture
def restarted_queue(full: leaseq.Queue, server: Server, monkeypatch: pytest.MonkeyPatch) -> leaseq.Queue:
    """A queue whose server is restarted after the first step through the items: the scripts are gone, and the
    cursor of the next step, which now means another place, finds nothing."""
    for n in range(400):
        full.enqueue({"n": n, "long": "x" * 100})
    restarts = 0

    def in_steps(name: str, index: int, end: list[Any]) -> None:
        def step(run: Run, *arguments: Any) -> Any:
            nonlocal restarts
            if arguments[index] in ("", "0") or restarts:
                return run(*arguments)
            restarts += 1
            server.redis.script_flush()
            return Reply(b"step", end, False)

        replace_calls(monkeypatch, name, step)

    in_steps("erase_person", 3, [b"", 0, 0])
    in_steps("person_items", 1, [b"0"])
    return full


def test_restart_during_erase_leaves_no_name(restarted_queue: leaseq.Queue, server: Server) -> None:
    restarted_queue.erase_person(NAME, "erased-1")
    assert server_contents.naming(server.redis, restarted_queue.name, NAME) == {"journal"}


def test_restart_during_person_items_omits_no_item(restarted_queue: leaseq.Queue) -> None:
    ids = [one.id for one in restarted_queue.person_items(NAME)]
    assert sorted(ids) == sorted([*IDS, "for", "elsewhere"])


def test_erase_of_person_who_keeps_working_is_refused(
    full: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(100):
        full.enqueue({"n": n, "long": "x" * 100})

    def reserve_and_erase(run: Run, *arguments: Any) -> Any:
        if arguments[3]:
            full.reserve(NAME, skills=IDS)
        return run(*arguments)

    replace_calls(monkeypatch, "erase_person", reserve_and_erase)
    with refused("still_reserving"):
        full.erase_person(NAME, "erased-1")


def test_lease_granted_during_erase_round_stays_valid(queue: leaseq.Queue) -> None:
    queue.enqueue_many([NewItem({"long": "x" * 100}, id=f"{n}") for n in range(100)])
    commands = queue._commands
    step = commands.run("erase_person", "ann", "erased-1", "", "", 20).rest[0].decode()
    queue.configure(holds=100)
    leases = [take(queue, "ann") for _ in range(100)]
    while step:
        reply = commands.run("erase_person", "ann", "erased-1", "", step, 20)
        step = reply.rest[0].decode() if reply.code == b"step" else ""
    assert reply.code == b"again"
    assert queue.mine("ann") == leases
    for lease in leases:
        queue.finish(lease, 1)
