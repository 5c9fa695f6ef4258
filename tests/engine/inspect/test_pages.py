"""page and items: managers page through a state while people work."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import Keys
from tests.conftest import Server
from tests.engine.conftest import Sets
from tests.support.leases import take
from tests.support.refused import refused

Take = Callable[[str], leaseq.Lease]


def fill(queue: leaseq.Queue, count: int) -> list[str]:
    ids = [f"{n:03}" for n in range(count)]
    queue.enqueue_many(NewItem({"n": id}, id=id) for id in ids)
    return ids


def ids(items: object) -> list[str]:
    return [item.id for item in items]  # type: ignore[attr-defined]


def page_ids(queue: leaseq.Queue, state: leaseq.State, limit: int) -> list[list[str]]:
    page = queue.page(state, limit=limit)
    pages = [ids(page.items)]
    while page.after is not None:
        page = queue.page(state, limit=limit, after=page.after)
        pages.append(ids(page.items))
    return pages


def test_page_may_end_at_date_in_far_future(timed_queue: leaseq.Queue) -> None:
    far_date = datetime(8999, 12, 31, tzinfo=UTC)
    timed_queue.enqueue_many(NewItem({}, id=id, at=far_date, due=far_date) for id in ("a", "b"))
    assert page_ids(timed_queue, "scheduled", 1) == [["a"], ["b"]]
    first = timed_queue.by_due(limit=1)
    assert ids(timed_queue.by_due(limit=1, after=first.after).items) == ["b"]


@pytest.mark.parametrize("limit", [1, 3, 49, 50, 51, 100, 1000])
def test_pages_give_each_item_once_in_order(timed_queue: leaseq.Queue, limit: int) -> None:
    item_ids = fill(timed_queue, 130)
    pages = page_ids(timed_queue, "inbound", limit)
    assert [id for page in pages for id in page] == item_ids
    assert all(len(page) == limit for page in pages[:-1])


def test_list_goes_on_after_an_item_that_was_partly_answered(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(answers=2)
    fill(timed_queue, 3)
    for person in ("ann", "bob", "cyd"):
        timed_queue.finish(take(person), {})
    assert ids(timed_queue.page("inbound", after=timed_queue.get("001")).items) == ["002"]
    timed_queue.reserve("ann")
    assert timed_queue.get("001").state == "reserved"
    assert ids(timed_queue.page("reserved", after=timed_queue.get("001")).items) == []


def test_a_cursor_of_another_list_is_refused(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(holds=3)
    fill(timed_queue, 6)
    for _ in range(3):
        take("ann")
    states: tuple[leaseq.State, leaseq.State] = ("inbound", "reserved")
    for state, other in (states, states[::-1]):
        cursor = timed_queue.page(state, limit=1).after
        assert cursor
        assert timed_queue.page(state, limit=1, after=cursor).items
        with refused("format", "after", what="cursor"):
            timed_queue.page(other, limit=1, after=cursor)


def test_inbound_is_listed_in_order_of_reserving(timed_queue: leaseq.Queue, take: Take) -> None:
    for priority in (900, 100, 5):
        timed_queue.enqueue_many(NewItem({}, id=f"{priority}-{n}", priority=priority) for n in range(3))
    for person, gives_back in (("ann", True), ("bob", False), ("cyd", True), ("dan", True)):
        lease = take(person)
        if gives_back:
            timed_queue.abandon(lease)
    waiting_ids = ids(timed_queue.items("inbound"))
    for limit in (1, 2, 5):
        assert [id for page in page_ids(timed_queue, "inbound", limit) for id in page] == waiting_ids
    granted_ids = [take(f"p{n}").id for n in range(len(waiting_ids))]
    assert granted_ids == waiting_ids


@pytest.mark.parametrize("state", ["reserved", "scheduled", "finished", "dead"])
def test_each_state_is_listed_by_time(timed_queue: leaseq.Queue, sets: Sets, state: leaseq.State) -> None:
    timed_queue.configure(max_attempts=1)
    fill(timed_queue, 7)
    timed_queue.enqueue_many(NewItem({}, id=f"later{n}", delay=9 - n) for n in range(7))
    leases = [take(timed_queue, f"p{n}") for n in range(7)]
    for lease in reversed(leases):
        if state == "finished":
            timed_queue.finish(lease, {})
        elif state == "dead":
            timed_queue.fail(lease, "no")
    assert ids(timed_queue.items(state)) == sets()[state]
    assert len(sets()[state]) == 7
    assert [id for page in page_ids(timed_queue, state, 2) for id in page] == sets()[state]
    assert {item.state for item in timed_queue.items(state)} == {state}


def test_next_page_continues_if_last_item_left_state(timed_queue: leaseq.Queue, take: Take) -> None:
    item_ids = fill(timed_queue, 10)
    page = timed_queue.page("inbound", limit=4)
    for n in range(6):
        take(f"p{n}")
    assert ids(timed_queue.items("inbound", after=page.after)) == item_ids[6:]
    page = timed_queue.page("reserved", limit=2)
    timed_queue.finish(timed_queue.mine("p1")[0], {})
    assert ids(timed_queue.items("reserved", after=page.after)) == item_ids[2:6]


def test_next_page_continues_if_last_item_was_returned(timed_queue: leaseq.Queue, take: Take) -> None:
    item_ids = fill(timed_queue, 6)
    page = timed_queue.page("inbound", limit=3)
    for n in range(3):
        timed_queue.abandon(take(f"p{n}"))
    assert ids(timed_queue.items("inbound", after=page.after)) == item_ids[3:], (
        "items that came back are ahead of the cursor"
    )


def test_next_page_continues_if_shelf_was_emptied(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.enqueue_many(NewItem({}, id=f"u{n}", priority=1) for n in range(3))
    item_ids = fill(timed_queue, 3)
    page = timed_queue.page("inbound", limit=2)
    for n in range(3):
        take(f"p{n}")
    assert take("dan").id == item_ids[0]
    assert ids(timed_queue.items("inbound", after=page.after)) == item_ids[1:]


def test_new_items_show_on_later_pages(timed_queue: leaseq.Queue) -> None:
    fill(timed_queue, 3)
    page = timed_queue.page("inbound", limit=2)
    assert page.after is not None
    timed_queue.enqueue({}, id="new")
    assert ids(timed_queue.items("inbound", after=page.after)) == ["002", "new"]


@pytest.mark.parametrize("count", [2, 50, 100])
def test_exactly_full_last_page_has_no_cursor(timed_queue: leaseq.Queue, count: int) -> None:
    fill(timed_queue, count)
    assert timed_queue.page("inbound", limit=count).after is None


@pytest.mark.parametrize("removed_id", [None, "b", "c"])
def test_items_with_equal_times_are_each_listed_once(
    timed_queue: leaseq.Queue, server: Server, removed_id: str | None
) -> None:
    for id in "abcde":
        timed_queue.enqueue({}, id=id, delay=60)
    scheduled = Keys(timed_queue.name).scheduled
    server.redis.zadd(scheduled, dict.fromkeys("abcde", 1_800_000_060_000_000))
    page = timed_queue.page("scheduled", limit=2)
    assert ids(page.items) == ["a", "b"]
    if removed_id:
        timed_queue.remove(removed_id)
    assert ids(timed_queue.items("scheduled", after=page.after)) == [id for id in "cde" if id != removed_id]


def test_item_is_accepted_as_cursor(timed_queue: leaseq.Queue) -> None:
    item_ids = fill(timed_queue, 4)
    first = timed_queue.items("inbound", limit=2)
    assert ids(timed_queue.items("inbound", after=first[-1])) == item_ids[2:]


def test_page_of_empty_state_has_no_items(timed_queue: leaseq.Queue) -> None:
    fill(timed_queue, 1)
    assert timed_queue.page("dead") == leaseq.Page((), None)


def test_cursor_may_contain_id_with_slashes(timed_queue: leaseq.Queue) -> None:
    for id in ("a/1", "a//", "/"):
        timed_queue.enqueue({}, id=id)
    assert page_ids(timed_queue, "inbound", 1)[:3] == [["a/1"], ["a//"], ["/"]]


def test_answers_in_small_chunks_are_in_order_of_finishing(timed_queue: leaseq.Queue) -> None:
    item_ids = fill(timed_queue, 60)
    leases = [take(timed_queue, f"p{n:02}") for n in range(60)]
    for lease in reversed(leases):
        timed_queue.finish(lease, {"id": lease.id})
    answers = list(timed_queue.answers(chunk=7))
    assert [a.id for a in answers] == item_ids[::-1]
    assert all(a.result == {"id": a.id} and a.payload == {"n": a.id} for a in answers)
    times = [a.finished_at for a in answers]
    assert times == sorted(times)


def test_answers_with_late_include_items_in_any_state(timed_queue: leaseq.Queue, take: Take) -> None:
    fill(timed_queue, 2)
    for person in ("ann", "bob"):
        lease = take(person)
        timed_queue.release(lease.id)
        with pytest.raises(leaseq.LeaseLost):
            timed_queue.finish(lease, {"late": person})
        timed_queue.finish(take(person), {"by": person}) if person == "ann" else None
    assert [a.result for a in timed_queue.answers()] == [{"by": "ann"}]
    answers = [(a.result, a.late) for a in timed_queue.answers(with_late=True)]
    assert sorted(answers, key=str) == sorted(
        [({"by": "ann"}, False), ({"late": "ann"}, True), ({"late": "bob"}, True)], key=str
    )


def test_page_of_several_calls_has_requested_number_of_items(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many([{}] * 120)
    assert len(timed_queue.items("inbound", limit=75)) == 75
