"""late_items and late_page: the items with late answers, in any state."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

import leaseq
from leaseq.engine.replies import Reply
from tests.conftest import Clock, Server
from tests.support.refused import refused
from tests.support.script_calls import replace_calls

Take = Callable[[str], leaseq.Lease]


@pytest.fixture
def answer_late(timed_queue: leaseq.Queue, clock: Clock) -> Callable[..., leaseq.Lease]:
    """Return a function that lets ann answer an item while bob has it, and returns bob's lease."""

    def answer(id: str, **extra: str) -> leaseq.Lease:
        timed_queue.configure(lease_seconds=60, holds=100)
        skill = re.sub("[^a-z0-9]", "-", id)  # then they get no other item
        timed_queue.enqueue({"of": id}, id=id, requires=(skill,))
        lease = timed_queue.reserve("ann", skills=[skill])
        clock.tick(61)
        bobs = timed_queue.reserve("bob", skills=[skill])
        assert lease
        assert bobs
        with pytest.raises(leaseq.LeaseLost):
            timed_queue.finish(lease, {"by": "ann", **extra})
        return bobs

    return answer


def ids(queue: leaseq.Queue, since: datetime | None = None) -> list[str]:
    return sorted(item.id for item in queue.late_items(since))


def test_late_items_are_listed_in_any_state_until_adopted(
    timed_queue: leaseq.Queue, answer_late: Callable[[str], leaseq.Lease], take: Take
) -> None:
    timed_queue.configure()
    assert ids(timed_queue) == []
    for id, act in (
        ("finished", lambda lease: timed_queue.finish(lease, {"by": "bob"})),
        ("given back", lambda lease: timed_queue.abandon(lease, again=False)),
        ("failed", lambda lease: timed_queue.fail(lease, "torn")),
        ("removed", lambda _: timed_queue.remove("removed")),
        ("held", lambda _: None),
    ):
        act(answer_late(id))
    timed_queue.enqueue({}, id="on time")
    timed_queue.finish(take("dan"), {})
    assert ids(timed_queue) == ["failed", "finished", "given back", "held"]
    (held_item,) = (item for item in timed_queue.late_items() if item.id == "held")
    assert held_item == timed_queue.get("held")
    assert [answer.result for answer in held_item.late_answers] == [{"by": "ann"}]
    timed_queue.adopt("held", held_item.late_answers[0].token)
    assert ids(timed_queue) == ["failed", "finished", "given back"]


def test_since_excludes_earlier_late_answers(
    timed_queue: leaseq.Queue, answer_late: Callable[[str], leaseq.Lease], clock: Clock
) -> None:
    answer_late("early")
    clock.tick(600)
    answer_late("later")
    (answer,) = timed_queue.get("later").late_answers
    assert ids(timed_queue, answer.finished_at) == ["later"]
    assert ids(timed_queue, answer.finished_at + timedelta(microseconds=1)) == []
    (answer,) = timed_queue.get("early").late_answers
    assert ids(timed_queue, answer.finished_at) == ["early", "later"]
    with refused("format", "since", what="moment"):
        timed_queue.late_items(datetime(2026, 1, 1))  # noqa: DTZ001 - without a zone


def test_many_late_items_are_each_listed_once(
    timed_queue: leaseq.Queue, answer_late: Callable[[str], leaseq.Lease]
) -> None:
    expected = [f"n{n:03}" for n in range(90)]
    for id in expected:
        timed_queue.finish(answer_late(id), {"long": "x" * 100})
    assert ids(timed_queue) == expected


def test_no_late_item_is_listed_twice_if_most_are_removed_meanwhile(
    timed_queue: leaseq.Queue, answer_late: Callable[..., leaseq.Lease]
) -> None:
    """The server then compacts the rest, to positions that the listing has not reached yet."""
    all_ids = [f"n{n:03}" for n in range(600)]
    for id in all_ids:
        timed_queue.finish(answer_late(id, text="long " * 20), {})
    walk = timed_queue.late_items()
    ids = [next(walk).id for _ in range(20)]
    for id in all_ids:
        if id not in ids:
            timed_queue.remove(id)
    ids += [item.id for item in walk]
    assert len(ids) < 100, "each step is short, and items that are gone by then are not returned"
    assert len(ids) == len(set(ids))


def pages(queue: leaseq.Queue, limit: int, after: str | None = None) -> Iterator[leaseq.Page]:
    while True:
        page = queue.late_page(limit=limit, after=after)
        assert len(page.items) <= limit
        yield page
        after = page.after
        if after is None:
            return


@pytest.mark.parametrize(("count", "limit"), [(0, 5), (3, 1), (3, 3), (90, 1), (90, 7), (90, 200)])
def test_each_late_item_is_on_one_page(
    timed_queue: leaseq.Queue, answer_late: Callable[..., leaseq.Lease], count: int, limit: int
) -> None:
    timed_queue.configure()
    expected = [f"n/{n:03}, é" for n in range(count)]
    for id in expected:
        timed_queue.finish(answer_late(id, text="long " * 20 if count > 3 else ""), {})
    found_ids = [item.id for page in pages(timed_queue, limit) for item in page.items]
    assert sorted(found_ids) == expected
    if found_ids:
        first = timed_queue.late_page(limit=limit).items[0]
        assert first == timed_queue.get(first.id)


def test_late_items_removed_meanwhile_are_not_on_later_pages(
    timed_queue: leaseq.Queue, answer_late: Callable[..., leaseq.Lease]
) -> None:
    """Including items left over from the server's last step, and while the server moves its entries."""
    ids = [f"n{n:03}" for n in range(300)]
    for id in ids:
        timed_queue.finish(answer_late(id, text="long " * 20), {})
    walk = pages(timed_queue, 7)
    first_ids = [item.id for item in next(walk).items]
    kept_ids = {id for id in ids if id.endswith("3")}
    for id in set(ids) - set(first_ids) - kept_ids:
        timed_queue.remove(id)
    next_ids = [item.id for page in walk for item in page.items]
    assert kept_ids <= {*first_ids, *next_ids}
    assert set(next_ids) <= {*kept_ids, *first_ids}


@pytest.mark.parametrize("text", ["", "long " * 20])
def test_cursor_of_replaced_server_starts_from_beginning(
    timed_queue: leaseq.Queue, answer_late: Callable[..., leaseq.Lease], server: Server, text: str
) -> None:
    """On the new server, the cursor means another position."""
    expected = [f"n{n:03}" for n in range(60)]
    for id in expected:
        timed_queue.finish(answer_late(id, text=text), {})
    page = timed_queue.late_page(limit=30)
    assert page.after
    server.redis.script_flush()
    witness, _, *rest = page.after.split("/")
    wrong_cursor = "/".join((witness, "end", *rest))
    found_ids = [item.id for page in pages(timed_queue, 30, wrong_cursor) for item in page.items]
    assert sorted({*found_ids, *(item.id for item in page.items)}) == expected


def test_all_late_items_are_listed_if_server_is_replaced_meanwhile(
    timed_queue: leaseq.Queue,
    answer_late: Callable[..., leaseq.Lease],
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = [f"n{n:03}" for n in range(60)]
    for id in expected:
        timed_queue.finish(answer_late(id, text="long " * 20), {})
    is_replaced = False

    def step(run: Callable[..., Reply], position: str, count: int, since: str) -> Reply:
        nonlocal is_replaced
        if position == "0" or is_replaced:
            return run(position, count, since)
        is_replaced = True
        server.redis.script_flush()
        return Reply(b"items", [b"0"], False)

    replace_calls(monkeypatch, "late_items", step)
    assert ids(timed_queue) == expected
    is_replaced = False
    found_ids = [item.id for page in pages(timed_queue, 100) for item in page.items]
    assert sorted(set(found_ids)) == expected


@pytest.mark.parametrize("after", ["x", "0/0//", f"{'a' * 16}/0", f"{'a' * 16}/x//", 7])
def test_invalid_cursor_is_refused(queue: leaseq.Queue, after: Any) -> None:
    with refused("format", what="cursor"):
        queue.late_page(after=after)


def test_items_left_over_in_cursor_are_checked_again(
    timed_queue: leaseq.Queue, answer_late: Callable[..., leaseq.Lease]
) -> None:
    for id in ("one", "two"):
        timed_queue.finish(answer_late(id), {})
    timed_queue.enqueue({}, id="none is late")
    witness = (timed_queue.late_page(limit=1).after or "").partition("/")[0]
    page = timed_queue.late_page(limit=2, after=f"{witness}/end//none%20is%20late,%00,two,one")
    assert [item.id for item in page.items] == []
    assert page.after == f"{witness}/end//two,one"
    page = timed_queue.late_page(limit=2, after=page.after)
    assert ([item.id for item in page.items], page.after) == (["two", "one"], None)
