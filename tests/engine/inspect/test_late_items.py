"""late_items: the items that have late answers, wherever they are by now."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

import leaseq
from tests.conftest import Clock

Take = Callable[[str], leaseq.Lease]


@pytest.fixture
def came_late(timed: leaseq.Queue, clock: Clock) -> Callable[..., leaseq.Lease]:
    """Lets ann answer the item of this id when bob has it; gives bob's lease."""

    def answer(id: str, **more: str) -> leaseq.Lease:
        timed.configure(lease_seconds=60, holds=100)
        skill = id.replace(" ", "-")  # so that nothing else comes
        timed.enqueue({"of": id}, id=id, requires=(skill,))
        lease = timed.reserve("ann", skills=[skill])
        clock.tick(61)
        theirs = timed.reserve("bob", skills=[skill])
        assert lease
        assert theirs
        with pytest.raises(leaseq.LeaseLost):
            timed.finish(lease, {"by": "ann", **more})
        return theirs

    return answer


def ids(queue: leaseq.Queue, since: datetime | None = None) -> list[str]:
    return sorted(item.id for item in queue.late_items(since))


def test_they_are_found_in_whatever_state_and_no_more_once_they_are_taken(
    timed: leaseq.Queue, came_late: Callable[[str], leaseq.Lease], take: Take
) -> None:
    timed.configure()
    assert ids(timed) == []
    for id, act in (
        ("finished", lambda lease: timed.finish(lease, {"by": "bob"})),
        ("given back", lambda lease: timed.abandon(lease, again=False)),
        ("failed", lambda lease: timed.fail(lease, "torn")),
        ("removed", lambda _: timed.remove("removed")),
        ("held", lambda _: None),
    ):
        act(came_late(id))
    timed.enqueue({}, id="on time")
    timed.finish(take("dan"), {})
    assert ids(timed) == ["failed", "finished", "given back", "held"]
    (held,) = (item for item in timed.late_items() if item.id == "held")
    assert held == timed.get("held")
    assert [answer.result for answer in held.late_answers] == [{"by": "ann"}]
    timed.adopt("held", held.late_answers[0].token)
    assert ids(timed) == ["failed", "finished", "given back"]


def test_since_leaves_out_what_came_before(
    timed: leaseq.Queue, came_late: Callable[[str], leaseq.Lease], clock: Clock
) -> None:
    came_late("early")
    clock.tick(600)
    came_late("later")
    (came,) = timed.get("later").late_answers
    assert ids(timed, came.finished_at) == ["later"]
    assert ids(timed, came.finished_at + timedelta(microseconds=1)) == []
    (came,) = timed.get("early").late_answers
    assert ids(timed, came.finished_at) == ["early", "later"]
    with pytest.raises(leaseq.Invalid, match="since"):
        timed.late_items(datetime(2026, 1, 1))  # noqa: DTZ001 - without a zone


def test_many_are_all_found_and_each_once(
    timed: leaseq.Queue, came_late: Callable[[str], leaseq.Lease]
) -> None:
    wanted = [f"n{n:03}" for n in range(90)]
    for id in wanted:
        timed.finish(came_late(id), {"long": "x" * 100})
    assert ids(timed) == wanted


def test_each_is_told_once_though_most_are_gone_half_way(
    timed: leaseq.Queue, came_late: Callable[..., leaseq.Lease]
) -> None:
    """The server moves what is left together then, to where the walk has not been yet."""
    all_of_them = [f"n{n:03}" for n in range(600)]
    for id in all_of_them:
        timed.finish(came_late(id, text="long " * 20), {})
    walk = timed.late_items()
    ids = [next(walk).id for _ in range(20)]
    for id in all_of_them:
        if id not in ids:
            timed.remove(id)
    ids += [item.id for item in walk]
    assert len(ids) < 100, "a look is a short one, and what is gone by the next one is not told"
    assert len(ids) == len(set(ids))
