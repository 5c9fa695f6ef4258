"""The judge itself: it accepts correct histories, and finds planted faults."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha1

import pytest

import leaseq
from leaseq.engine import commands
from leaseq.engine.scripts import SCRIPTS, Script
from tests.conftest import Server
from tests.faults.history import Call, Grant, History, Recorder
from tests.faults.judge import find_faults
from tests.faults.people import RULES, crowd
from tests.faults.wgl import Span, linearization
from tests.support.leases import not_none
from tests.support.waiting import TIMEOUT


def step_register(state: int, op: tuple[str, int]) -> Iterator[int]:
    """A register that is written and read."""
    action, value = op
    if action == "write":
        yield value
    elif value == state:
        yield state


@pytest.mark.parametrize(
    ("spans", "possible"),
    [
        ([(("write", 1), 0, 1), (("read", 1), 2, 3)], True),
        ([(("write", 1), 0, 1), (("read", 0), 2, 3)], False),
        ([(("write", 1), 0, 5), (("read", 0), 1, 2), (("read", 1), 3, 4)], True),
        ([(("write", 1), 0, 5), (("read", 1), 1, 2), (("read", 0), 3, 4)], False),
        ([(("write", 1), 0, float("inf")), (("read", 0), 1, 2), (("read", 1), 3, 4)], True),
        ([(("write", 1), 0, float("inf")), (("read", 0), 1, 2)], True),
        ([(("write", 1), 3, float("inf")), (("read", 1), 1, 2)], False),
        ([(("write", 1), 0, 9), (("write", 2), 0, 9), (("read", 2), 1, 2), (("read", 1), 3, 4)], True),
    ],
)
def test_linearization_is_found_only_if_possible(
    spans: list[tuple[tuple[str, int], float, float]], possible: bool
) -> None:
    order = linearization([Span(*span) for span in spans], 0, step_register)
    assert (order is not None) == possible


def history_of(*calls: Call) -> History:
    history = History(0)
    for number, call in enumerate(calls):
        history.calls.append(replace(call, start=call.start or number, end=call.end or number + 0.5))
    return history


def reserve_call(person: str, token: int, expires: float = 100) -> Call:
    grant = Grant("a", token, person, expires, 1)
    return Call("reserve", person, outcome="ok", grant=grant, reserves=True)


ENQUEUE = Call("enqueue", id="a", outcome="ok", added=True)


def finish_call(person: str, token: int, **fields: object) -> Call:
    return Call("finish", person, "a", token, {"by": person}, outcome="ok", **fields)  # type: ignore[arg-type]


UNANSWERED_RENEW = Call("renew", "ann", "a", 1, start=1.55)


@pytest.mark.parametrize(
    ("calls", "guarantees"),
    [
        pytest.param([ENQUEUE, reserve_call("ann", 1), finish_call("ann", 1)], [], id="normal finish"),
        pytest.param(
            [ENQUEUE, reserve_call("ann", 1, expires=2), reserve_call("bob", 2), finish_call("bob", 2)],
            [],
            id="expired lease",
        ),
        pytest.param(
            [ENQUEUE, reserve_call("ann", 1, expires=1.6), finish_call("ann", 1, late=True)],
            [],
            id="late finish of an item not granted again",
        ),
        pytest.param(
            [ENQUEUE, reserve_call("ann", 1), reserve_call("ann", 1), finish_call("ann", 1)],
            [],
            id="same lease reserved again",
        ),
        pytest.param(
            [
                ENQUEUE,
                reserve_call("ann", 1),
                finish_call("ann", 1),
                finish_call("ann", 1, replayed=True),
            ],
            [],
            id="finish sent twice",
        ),
        pytest.param(
            [ENQUEUE, Call("reserve", "ann", reserves=True), reserve_call("bob", 2, expires=900)],
            [],
            id="grant whose reply was lost",
        ),
        pytest.param(
            [ENQUEUE, reserve_call("ann", 1), reserve_call("bob", 2)],
            ["linearizable", "one holder"],
            id="double grant",
        ),
        pytest.param(
            [
                ENQUEUE,
                reserve_call("ann", 1, expires=1.6),
                reserve_call("bob", 2),
                finish_call("ann", 1, late=True),
            ],
            ["linearizable"],
            id="stale token accepted",
        ),
        pytest.param(
            [ENQUEUE, reserve_call("ann", 1), finish_call("ann", 1), reserve_call("bob", 2)],
            ["linearizable"],
            id="answer forgotten",
        ),
        pytest.param(
            [
                ENQUEUE,
                reserve_call("ann", 1),
                replace(finish_call("ann", 1), outcome="lost", answer_kept=True),
            ],
            ["linearizable"],
            id="finish refused without reason",
        ),
        pytest.param(
            [
                ENQUEUE,
                reserve_call("ann", 5),
                Call("abandon", "ann", "a", 5, outcome="ok"),
                reserve_call("bob", 4),
            ],
            ["linearizable", "one holder", "fencing"],
            id="smaller token",
        ),
        pytest.param([reserve_call("ann", 1)], ["linearizable"], id="item never enqueued"),
        pytest.param(
            [ENQUEUE, reserve_call("ann", 1, expires=1.6), finish_call("ann", 1)],
            ["linearizable"],
            id="finish of an expired lease not late",
        ),
        *(
            pytest.param(
                [
                    ENQUEUE,
                    reserve_call("ann", 1, expires=1.6),
                    UNANSWERED_RENEW,
                    finish_call("ann", 1, start=900, end=901, late=late),
                ],
                [],
                id=f"renew that may have taken effect late, {late=}",
            )
            for late in (False, True)
        ),
        pytest.param(
            [ENQUEUE, reserve_call("ann", 1), finish_call("ann", 1, late=True)],
            ["linearizable"],
            id="late finish before the expiry",
        ),
    ],
)
def test_judge_finds_exactly_the_violated_guarantees(calls: list[Call], guarantees: list[str]) -> None:
    assert [fault.guarantee for fault in find_faults(history_of(*calls), RULES)] == guarantees


def plant(name: str, right: str, wrong: str) -> Script:
    """Return a script with one line replaced by a wrong one."""
    script = SCRIPTS[name]
    source = script.source.replace(right, wrong)
    assert (source != script.source) == (right != wrong)
    return replace(script, source=source, sha=sha1(source.encode(), usedforsecurity=False).hexdigest())


def play_story(queue: leaseq.Queue) -> History:
    """Two people hold an item each; one lease expires, somebody else gets the item, and then both answer."""
    queue.configure(lease_seconds=0.2)
    history = History(0)
    recorder = Recorder(queue, history)
    recorder.enqueue("a", {}), recorder.enqueue("b", {})
    ann_lease, bob_lease = not_none(recorder.reserve("ann")), not_none(recorder.reserve("bob"))
    recorder.finish(bob_lease, {"by": "bob"})
    eve_lease = not_none(recorder.reserve("eve", wait=TIMEOUT))
    recorder.finish(ann_lease, {"by": "ann"})
    recorder.finish(eve_lease, {"by": "eve"})
    return history


@pytest.mark.parametrize(
    ("name", "right", "wrong", "guarantees"),
    [
        pytest.param("clear", "local", "local", set(), id="no fault"),
        pytest.param(
            "reserve",
            "    call('ZREM', shelf_key, id)\n",
            "",
            {"one holder", "linearizable"},
            id="double grant",
        ),
        pytest.param(
            "finish",
            "remaining_holdings, 'g:' .. member, ended_grant)",
            "remaining_holdings, 'g:' .. member, grant)",
            {"no answer lost"},
            id="lost answer",
        ),
        pytest.param(
            "finish",
            "if grants.is_of(grant, token, person) then return member, grant end",
            "if grant then return member, grant end",
            {"linearizable"},
            id="stale token accepted",
        ),
    ],
)
def test_judge_finds_a_fault_planted_in_a_script(
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    queue_name: str,
    name: str,
    right: str,
    wrong: str,
    guarantees: set[str],
) -> None:
    monkeypatch.setattr(commands, "SCRIPTS", {**SCRIPTS, name: plant(name, right, wrong)})
    queue = leaseq.Queue(server.client, queue_name)
    faults = find_faults(play_story(queue), RULES, queue)
    assert guarantees <= {fault.guarantee for fault in faults}, [str(fault) for fault in faults]
    assert bool(guarantees) == bool(faults), [str(fault) for fault in faults]


def test_judge_finds_no_fault_in_correct_work(server: Server, seed: int, queue_name: str) -> None:
    with crowd(server.url, queue_name, seed, people=6, items=120) as people:
        people.wait_until_done()
    faults = find_faults(people.history, RULES, leaseq.Queue(server.client, queue_name))
    assert not faults, "\n".join(map(str, faults))
