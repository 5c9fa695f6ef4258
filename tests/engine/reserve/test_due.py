"""Due dates: shown, listed by date, and counted when they have passed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import leaseq
from tests.conftest import Clock
from tests.support.leases import take


@pytest.fixture
def dated_queue(timed_queue: leaseq.Queue, clock: Clock) -> leaseq.Queue:
    """Items due in one, two and three hours; the last one was enqueued first."""
    now = datetime.fromtimestamp(clock.now / 1e6, UTC)
    for hour in (3, 1, 2):
        timed_queue.enqueue({}, id=f"h{hour}", due=now + timedelta(hours=hour))
    timed_queue.enqueue({}, id="whenever")
    return timed_queue


def ids(queue: leaseq.Queue, limit: int = 100) -> list[str]:
    page = queue.by_due(limit=limit)
    item_ids = [item.id for item in page.items]
    while page.after is not None:
        page = queue.by_due(limit=limit, after=page.after)
        item_ids += [item.id for item in page.items]
    return item_ids


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_by_due_lists_items_by_date(dated_queue: leaseq.Queue, limit: int) -> None:
    assert ids(dated_queue, limit) == ["h1", "h2", "h3"]


@pytest.mark.parametrize("index", [0, 57, 597])
def test_items_with_equal_date_are_each_listed_once_if_last_one_is_removed(
    timed_queue: leaseq.Queue, index: int
) -> None:
    date = datetime(2030, 1, 1, tzinfo=UTC)
    names = [f"{n:03}" for n in range(600)]
    timed_queue.enqueue_many(leaseq.NewItem({}, id=name, due=date) for name in names[9:])
    timed_queue.enqueue_many(leaseq.NewItem({}, id=name, due=date - timedelta(1)) for name in names[:9])
    page = timed_queue.by_due(limit=index + 1)
    item_ids = [item.id for item in page.items]
    timed_queue.remove(item_ids[-1])
    while page.after is not None:
        page = timed_queue.by_due(limit=100, after=page.after)
        item_ids += [item.id for item in page.items]
    assert item_ids == names


def test_overdue_items_are_counted_in_every_open_state(dated_queue: leaseq.Queue, clock: Clock) -> None:
    assert dated_queue.stats().overdue == 0
    clock.tick(3 * 3600 + 1)
    assert dated_queue.stats().overdue == 3
    lease = take(dated_queue, "ann")
    assert dated_queue.stats().overdue == 3, "a held item counts"
    dated_queue.fail(lease, "no")
    assert dated_queue.stats().overdue == 3, "a scheduled retry counts"
    dated_queue.finish(take(dated_queue, "ann"), {})
    assert dated_queue.stats().overdue == 2


@pytest.mark.parametrize(
    "ending", ["finish", "finish renewed", "finish late", "fail", "run out", "give back", "remove", "adopt"]
)
def test_finished_dead_or_removed_item_is_no_longer_due(
    dated_queue: leaseq.Queue, clock: Clock, ending: str
) -> None:
    dated_queue.configure(max_attempts=2 if ending in ("finish late", "adopt") else 1, max_abandons=1)
    lease = take(dated_queue, "ann")
    assert lease.id == "h3"
    clock.tick(301 if ending in ("finish late", "run out", "adopt") else 0)
    if ending in ("finish", "finish late"):
        dated_queue.clear()
        dated_queue.finish(lease, {})
    elif ending == "finish renewed":
        dated_queue.finish(dated_queue.renew(lease), {})
    elif ending == "adopt":
        take(dated_queue, "bob")
        with pytest.raises(leaseq.LeaseLost):
            dated_queue.finish(lease, {})
        dated_queue.adopt(lease.id, lease.token)
    elif ending == "fail":
        dated_queue.fail(lease, "no")
    elif ending == "give back":
        dated_queue.abandon(lease)
    elif ending == "remove":
        dated_queue.remove(lease.id)
    dated_queue.clear()
    assert ids(dated_queue) == ["h1", "h2"]


def test_revived_item_is_due_again(dated_queue: leaseq.Queue) -> None:
    dated_queue.configure(max_attempts=1)
    dated_queue.fail(take(dated_queue, "ann"), "no")
    dated_queue.revive("h3")
    assert ids(dated_queue) == ["h1", "h2", "h3"]


def test_item_is_overdue_until_last_of_several_answers(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=3)
    timed_queue.enqueue({}, id="a", due=datetime(2020, 1, 1, tzinfo=UTC))
    for person in ("ann", "bob", "cyd"):
        assert timed_queue.stats().overdue == 1
        timed_queue.finish(take(timed_queue, person), {})
    assert timed_queue.stats().overdue == 0


def test_due_date_does_not_change_order_of_reserving(dated_queue: leaseq.Queue) -> None:
    assert [take(dated_queue, person).id for person in ("ann", "bob", "cyd", "dan")] == [
        "h3",
        "h1",
        "h2",
        "whenever",
    ]


def enqueue_overdue(queue: leaseq.Queue, **policy: Any) -> None:
    """Enqueue an overdue item in a queue with this policy."""
    queue.configure(**policy)
    queue.enqueue({}, id="a", due=datetime(2020, 1, 1, tzinfo=UTC))


def overdue(queue: leaseq.Queue) -> tuple[int, list[str]]:
    return queue.stats().overdue, ids(queue)


def test_finished_item_is_not_due_if_policy_now_wants_more_answers(
    timed_queue: leaseq.Queue,
) -> None:
    """An item with all its assignments handed out before the policy changed gets no more answers."""
    enqueue_overdue(timed_queue, answers=2)
    leases = [take(timed_queue, person) for person in ("ann", "bob")]
    timed_queue.configure(answers=3)
    for lease in leases:
        assert overdue(timed_queue) == (1, ["a"])
        timed_queue.finish(lease, {})
    assert timed_queue.get("a").state == "finished"
    assert overdue(timed_queue) == (0, [])


def test_item_is_due_until_answer_added_by_policy_change(timed_queue: leaseq.Queue) -> None:
    enqueue_overdue(timed_queue, answers=2)
    first = take(timed_queue, "ann")
    timed_queue.configure(answers=3)
    timed_queue.finish(first, {})
    timed_queue.finish(take(timed_queue, "bob"), {})
    assert overdue(timed_queue) == (1, ["a"])
    timed_queue.finish(take(timed_queue, "cyd"), {})
    assert overdue(timed_queue) == (0, [])


def finish_one_and_fail_one(queue: leaseq.Queue) -> leaseq.Lease:
    """Ann has answered; bob's assignment is dead."""
    enqueue_overdue(queue, answers=2, max_attempts=1)
    anns, bobs = take(queue, "ann"), take(queue, "bob")
    queue.finish(anns, {})
    queue.fail(bobs, "torn")
    assert (queue.get("a").state, overdue(queue)) == ("dead", (0, []))
    return anns


def test_undo_does_not_make_item_with_dead_assignment_due(timed_queue: leaseq.Queue) -> None:
    new_lease = timed_queue.undo_finish(finish_one_and_fail_one(timed_queue))
    assert overdue(timed_queue) == (0, []), "not before it is revived"
    timed_queue.finish(new_lease, {})
    assert (timed_queue.get("a").state, overdue(timed_queue)) == ("dead", (0, []))


def test_item_revived_after_undo_is_due_until_finished(timed_queue: leaseq.Queue) -> None:
    new_lease = timed_queue.undo_finish(finish_one_and_fail_one(timed_queue))
    timed_queue.revive("a")
    assert overdue(timed_queue) == (1, ["a"])
    timed_queue.finish(new_lease, {})
    timed_queue.finish(take(timed_queue, "bob"), {})
    assert overdue(timed_queue) == (0, [])


def test_late_answer_for_dead_assignment_makes_item_due_again(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    """If the rest dies when it comes back, it is not due again."""
    enqueue_overdue(timed_queue, answers=2, max_attempts=1)
    anns = take(timed_queue, "ann")
    clock.tick(200)
    take(timed_queue, "bob")
    clock.tick(101)
    timed_queue.clear()
    assert overdue(timed_queue) == (0, []), "ann's assignment is dead"
    timed_queue.finish(anns, {})
    assert (timed_queue.get("a").state, overdue(timed_queue)) == ("reserved", (1, ["a"]))
    timed_queue.release("a")
    assert (timed_queue.get("a").state, overdue(timed_queue)) == ("dead", (0, []))


def test_adopted_answer_for_dead_assignment_makes_item_due_again(timed_queue: leaseq.Queue) -> None:
    enqueue_overdue(timed_queue, answers=2, max_attempts=1)
    anns, bobs = take(timed_queue, "ann"), take(timed_queue, "bob")
    timed_queue.fail(anns, "torn")
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.finish(anns, {"after": "all"})
    assert overdue(timed_queue) == (0, [])
    timed_queue.adopt("a", anns.token)
    assert (timed_queue.get("a").state, overdue(timed_queue)) == ("reserved", (1, ["a"]))
    timed_queue.finish(bobs, {})
    assert overdue(timed_queue) == (0, [])


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("changed", [False, True])
def test_two_assignments_held_at_once_are_due_until_both_are_finished(
    timed_queue: leaseq.Queue, clock: Clock, order: tuple[int, int], changed: bool
) -> None:
    date = datetime(2020, 1, 1, tzinfo=UTC)
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a", due=None if changed else date)
    leases = [take(timed_queue, "ann")]
    if changed:
        timed_queue.change("a", due=date)
    leases.append(take(timed_queue, "bob"))
    for index in order:
        clock.tick(1)
        assert timed_queue.stats().overdue == 1
        timed_queue.finish(leases[index], {})
    assert (timed_queue.stats().overdue, ids(timed_queue)) == (0, [])
    assert timed_queue.get("a").due == date


def test_due_date_of_second_assignment_is_that_of_item(timed_queue: leaseq.Queue, clock: Clock) -> None:
    """It is shown wherever the assignment is: in the lists of items, too."""
    date = datetime(2030, 1, 1, tzinfo=UTC)
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a", due=date)
    timed_queue.finish(take(timed_queue, "ann"), {})
    assert [(item.assignment, item.due) for item in timed_queue.items("inbound")] == [(2, date)]
    lease = take(timed_queue, "bob")
    assert [(item.assignment, item.due) for item in timed_queue.items("reserved")] == [(2, date)]
    timed_queue.fail(lease, "no", retry=False)
    timed_queue.revive("a")
    lease = take(timed_queue, "bob")
    clock.tick(1)
    timed_queue.finish(lease, {})
    assert timed_queue.by_due().items == ()
