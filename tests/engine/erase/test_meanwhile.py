"""Erasing a person while they go on, or while the server is restarted."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.replies import Reply
from tests.conftest import Server
from tests.engine import looking
from tests.engine.erase.conftest import IDS, NAME
from tests.support.taking import take


@pytest.mark.parametrize("step", [1, 2, 4])
def test_what_was_broken_off_is_finished_by_the_next(
    full: leaseq.Queue, server: Server, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    for n in range(400):  # so that it takes steps
        full.enqueue({"n": n, "long": "x" * 100})
    real, calls = full._commands.erase_person, 0

    def dies(*given: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > step:
            raise leaseq.ServerUnavailable("killed")
        return real(*given)

    with monkeypatch.context() as patch:
        patch.setattr(full._commands, "erase_person", dies)
        with pytest.raises(leaseq.ServerUnavailable):
            full.erase_person(NAME, "erased-1")
    assert full.mine(NAME) == []
    full.erase_person(NAME, "erased-1")
    assert looking.naming(server.redis, full.name, NAME) == {"journal"}


def test_who_comes_back_meanwhile_is_erased_once_more(
    full: leaseq.Queue, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(100):
        full.enqueue({"n": n, "long": "x" * 100})
    real, came = full._commands.erase_person, 0

    def meanwhile(person: str, to: str, by: str, step: str, count: int) -> Any:
        nonlocal came
        if step and came < 2:
            came += 1
            assert full.reserve(NAME, skills=IDS)
        return real(person, to, by, step, count)

    monkeypatch.setattr(full._commands, "erase_person", meanwhile)
    assert full.erase_person(NAME, "erased-1").leases >= 2
    assert looking.naming(server.redis, full.name, NAME) == {"journal"}


@pytest.fixture
def restarted(full: leaseq.Queue, server: Server, monkeypatch: pytest.MonkeyPatch) -> leaseq.Queue:
    """Its server is restarted behind the first step through the items: the scripts are gone, and from the
    place of the next step, which means another one there, nothing follows."""
    for n in range(400):
        full.enqueue({"n": n, "long": "x" * 100})
    restarts = 0

    def in_steps(name: str, place: int, end: list[Any]) -> None:
        real = getattr(full._commands, name)

        def step(*given: Any) -> Any:
            nonlocal restarts
            if given[place] in ("", "0") or restarts:
                return real(*given)
            restarts += 1
            server.redis.script_flush()
            return Reply(b"step", end, False)

        monkeypatch.setattr(full._commands, name, step)

    in_steps("erase_person", 3, [b"", 0, 0])
    in_steps("person_items", 1, [b"0"])
    return full


def test_a_server_that_is_restarted_meanwhile_keeps_no_name(restarted: leaseq.Queue, server: Server) -> None:
    restarted.erase_person(NAME, "erased-1")
    assert looking.naming(server.redis, restarted.name, NAME) == {"journal"}


def test_a_server_that_is_restarted_meanwhile_leaves_out_nothing(restarted: leaseq.Queue) -> None:
    found = [one.id for one in restarted.person_items(NAME)]
    assert sorted(found) == sorted([*IDS, "for", "elsewhere"])


def test_who_never_stops_is_refused(full: leaseq.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(100):
        full.enqueue({"n": n, "long": "x" * 100})
    real = full._commands.erase_person

    def meanwhile(*given: Any) -> Any:
        if given[3]:
            full.reserve(NAME, skills=IDS)
        return real(*given)

    monkeypatch.setattr(full._commands, "erase_person", meanwhile)
    with pytest.raises(leaseq.Invalid, match="stop what works under this name, and erase it again"):
        full.erase_person(NAME, "erased-1")


def test_a_lease_that_began_meanwhile_is_whole_until_the_next_round(queue: leaseq.Queue) -> None:
    queue.enqueue_many([NewItem({"long": "x" * 100}, id=f"{n}") for n in range(100)])
    commands = queue._commands
    step = commands.erase_person("ann", "erased-1", "", "", 20).rest[0].decode()
    queue.configure(holds=100)
    held = [take(queue, "ann") for _ in range(100)]
    while step:
        reply = commands.erase_person("ann", "erased-1", "", step, 20)
        step = reply.rest[0].decode() if reply.code == b"step" else ""
    assert reply.code == b"again"
    assert queue.mine("ann") == held
    for lease in held:
        queue.finish(lease, 1)
