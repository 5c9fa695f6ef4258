"""Leases are renewed while the function works, and none is worked twice at the same time."""

from __future__ import annotations

import threading
import time
from itertools import pairwise
from typing import Any

import pytest

import leaseq
from leaseq.worker.heartbeat import Renewer
from tests.conftest import Server
from tests.support.leases import not_none
from tests.support.waiting import eventually
from tests.worker.conftest import HeldFunction, Start, wait_for


def count_events(queue: leaseq.Queue, what: str) -> int:
    return sum(event.what == what for event in queue.journal(limit=10_000))


def test_a_renewal_is_planned_within_a_third_of_the_lease(queue: leaseq.Queue) -> None:
    """Two more renewals may fail before the lease expires."""
    queue.configure(lease_seconds=300)
    queue.enqueue({})
    renewer, before = Renewer(), time.monotonic()
    renewer.add(queue, not_none(queue.reserve("ann")))
    ((due, _),) = renewer._due
    assert before + 80 <= due <= time.monotonic() + 100


@pytest.mark.parametrize(("lease_seconds", "at_most"), [(10, 1), (300, 5)])
def test_where_the_server_is_away_a_renewal_is_tried_again_soon(
    queue: leaseq.Queue, lease_seconds: float, at_most: float
) -> None:
    queue.configure(lease_seconds=lease_seconds)
    queue.enqueue({})
    lease = not_none(queue.reserve("ann"))
    away_queue = leaseq.Queue(leaseq.connect("unix:///nothing/listens/here.sock"), queue.name)
    renewer = Renewer()
    renewer.add(away_queue, lease)
    (entry,) = renewer._entries.values()
    renewer._due.clear()
    renewer._renew(entry)
    ((due, _),) = renewer._due
    assert due <= time.monotonic() + at_most


def test_a_lease_that_seems_over_is_renewed_again_at_once_but_not_without_a_pause(
    queue: leaseq.Queue,
) -> None:
    """If the server's clock was set back, for instance, each renewed lease seems to be expired already."""
    queue.enqueue({})
    renewer = Renewer()
    renewer.add(queue, not_none(queue.reserve("ann")))
    (entry,) = renewer._entries.values()
    entry.since -= 86_400
    renewer._due.clear()
    before = time.monotonic()
    renewer._renew(entry)
    ((due, _),) = renewer._due
    assert before + 0.01 <= due <= time.monotonic() + 0.01


def test_renewals_are_a_third_of_the_lease_apart(
    queue: leaseq.Queue, start: Start, handle: HeldFunction
) -> None:
    """Minus the jitter; on a busy machine, they are further apart."""
    queue.configure(lease_seconds=0.3)
    queue.enqueue({})
    start(handle)
    eventually(lambda: count_events(queue, "renewed") >= 5, "five renewals")
    handle.go_on.set()
    times = [event.at for event in queue.journal(limit=1_000) if event.what == "renewed"]
    assert min(later - before for before, later in pairwise(times)).total_seconds() > 0.3 / 3 * 0.75


def test_a_lease_that_may_not_be_renewed_again_is_warned_of(
    queue: leaseq.Queue, caplog: pytest.LogCaptureFixture
) -> None:
    queue.configure(renewals=0)
    queue.enqueue({}, id="one")
    renewer = Renewer()
    renewer.add(queue, not_none(queue.reserve("ann")))
    (entry,) = renewer._entries.values()
    renewer._renew(entry)
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    until = f"{entry.lease.expires_at:%H:%M:%S} UTC"
    assert "one is no longer renewed, so it returns to the queue" in record.message
    assert f"not done by {until}: renewals: at most 0 renewals of one lease" in record.message


def test_a_lease_made_shorter_by_the_policy_is_kept_all_the_same(
    queue: leaseq.Queue, start: Start, handle: HeldFunction
) -> None:
    queue.configure(lease_seconds=3)
    queue.enqueue({}, id="one")
    start(handle)
    wait_for(handle.at_work)
    queue.configure(lease_seconds=0.7)
    # The second renewal, if still planned for a lease of 3 seconds, would be too late for one of 0.7.
    eventually(lambda: (queue.clear(), count_events(queue, "renewed") >= 4)[1], "renewals at the new pace")
    handle.go_on.set()
    eventually(lambda: queue.stats().finished == 1, "finished")
    assert queue.stats().counters["expired"] == 0


def test_renewals_that_are_used_up_let_the_lease_run_out_and_the_late_finish_counts(
    queue: leaseq.Queue, start: Start, handle: HeldFunction
) -> None:
    queue.configure(lease_seconds=0.2, renewals=1)
    queue.enqueue({}, id="one")
    thread = start(handle)
    wait_for(handle.at_work)
    queue.pause()  # so that the worker does not reserve it again
    eventually(lambda: queue.clear().returned == 1, "ran out")
    assert count_events(queue, "renewed") == 1
    handle.go_on.set()
    eventually(lambda: queue.stats().finished == 1, "finished")
    assert thread.stop() == leaseq.WorkerStats(finished=1)
    assert next(queue.answers()).late


class DroppingQueue(leaseq.Queue):
    """Drops the lease during its renewal, which then succeeds."""

    renewer: Renewer

    def renew(self, lease: leaseq.Lease | None = None, **options: Any) -> leaseq.Lease:
        assert lease is not None
        self.renewer.drop(lease)
        return super().renew(lease, **options)


def test_a_lease_that_is_dropped_while_it_is_renewed_runs_out(server: Server, queue: leaseq.Queue) -> None:
    """If its result could not be sent, for instance, the item must become free for others."""
    dropping_queue = DroppingQueue(server.client, queue.name)
    dropping_queue.configure(lease_seconds=0.3)
    dropping_queue.enqueue({}, id="one")
    lease = dropping_queue.reserve("bot")
    assert lease is not None
    dropping_queue.renewer = Renewer()
    dropping_queue.renewer.start()
    try:
        dropping_queue.renewer.add(dropping_queue, lease)
        eventually(lambda: queue.clear().returned == 1, "the lease expired")
    finally:
        dropping_queue.renewer.end()
    assert count_events(queue, "renewed") == 1


def test_a_lost_lease_keeps_the_answer_and_the_worker_goes_on(
    queue: leaseq.Queue, start: Start, handle: HeldFunction
) -> None:
    queue.enqueue({}, id="one")
    thread = start(handle)
    wait_for(handle.at_work)
    queue.release("one")
    other_lease = queue.reserve("ann")
    assert other_lease is not None
    queue.enqueue({}, id="two")
    handle.go_on.set()
    eventually(lambda: queue.stats().finished == 1, "the next one finished")
    assert thread.stop() == leaseq.WorkerStats(finished=1, lost=1)
    assert [answer.person for answer in queue.get("one").late_answers] == ["bot"]
    assert queue.mine("ann") == [other_lease]


def test_an_item_that_was_removed_is_lost(queue: leaseq.Queue, start: Start, handle: HeldFunction) -> None:
    queue.enqueue({}, id="one")
    thread = start(handle)
    wait_for(handle.at_work)
    queue.remove("one")
    handle.go_on.set()
    eventually(lambda: thread.worker.stats.lost == 1, "lost")


def test_what_its_person_held_before_is_worked_first(
    queue: leaseq.Queue, start: Start, handle: HeldFunction
) -> None:
    queue.enqueue_many([{}, {}])
    old_lease = queue.reserve("bot")
    assert old_lease is not None
    handle.go_on.set()
    start(handle)
    eventually(lambda: queue.stats().finished == 2, "finished")
    assert handle.tokens == [old_lease.token, old_lease.token + 1]


def test_all_that_it_held_before_is_worked_first_where_its_hands_have_room(
    queue: leaseq.Queue, start: Start, handle: HeldFunction
) -> None:
    queue.configure(holds=5)
    queue.enqueue_many([{} for _ in range(4)])
    old_tokens = [lease.token for lease in (queue.reserve("bot"), queue.reserve("bot")) if lease is not None]
    handle.go_on.set()
    start(handle)
    eventually(lambda: queue.stats().finished == 4, "finished")
    assert handle.tokens == [*old_tokens, old_tokens[-1] + 1, old_tokens[-1] + 2]
    assert queue.stats().counters["expired"] == 0


@pytest.mark.parametrize("error", [leaseq.ServerUnavailable, leaseq.ServerRefused])
def test_what_a_lost_reply_gave_it_is_worked_and_does_not_lie_till_it_runs_out(
    queue: leaseq.Queue,
    start: Start,
    handle: HeldFunction,
    monkeypatch: pytest.MonkeyPatch,
    error: type[leaseq.LeaseqError],
) -> None:
    """For instance if no replica confirmed it. The worker may hold more, so another reserve returns other
    items."""
    queue.configure(holds=5)
    queue.enqueue_many([{} for _ in range(4)])
    reserve, losses = leaseq.Queue.reserve, iter([True, True])

    def lose_reply(self: leaseq.Queue, person: str, **options: Any) -> leaseq.Lease | None:
        lease = reserve(self, person, **options)
        if lease is not None and next(losses, False):
            raise error("a reply was lost")
        return lease

    monkeypatch.setattr(leaseq.Queue, "reserve", lose_reply)
    handle.go_on.set()
    start(handle)
    eventually(lambda: queue.stats().finished == 4, "finished")
    assert handle.tokens == [1, 2, 3, 4]


def test_what_was_left_is_not_renewed_so_that_what_kills_its_worker_dies(
    queue: leaseq.Queue, start: Start, handle: HeldFunction
) -> None:
    """Each restarted worker begins with the item that kills it, and would hold it for ever."""
    queue.configure(lease_seconds=0.5, max_attempts=1)
    queue.enqueue({}, id="poison")
    assert queue.reserve("bot") is not None
    start(handle)
    wait_for(handle.at_work)
    eventually(lambda: queue.clear().died == 1, "dead")
    assert count_events(queue, "renewed") == 0
    handle.go_on.set()


def test_a_full_person_does_not_get_one_lease_into_two_threads(
    queue: leaseq.Queue, start: Start, handle: HeldFunction
) -> None:
    """A manager lowers the limit below the number in work: a reserve then returns one of these again."""
    queue.configure(holds=3)
    queue.enqueue_many([{"n": n} for n in range(2)])
    start(handle, concurrency=3)
    eventually(lambda: len(handle.tokens) == 2, "two in work, and the third thread in line")
    queue.configure(holds=1)
    queue.enqueue_many([{"n": n} for n in range(2, 6)])
    handle.go_on.set()
    eventually(lambda: queue.stats().finished == 6, "all finished")
    assert len(set(handle.tokens)) == len(handle.tokens) == 6


def test_many_short_items_are_each_done_once(queue: leaseq.Queue, start: Start) -> None:
    queue.configure(holds=2, lease_seconds=5)
    queue.enqueue_many([{"n": n} for n in range(300)])
    lock = threading.Lock()
    tokens: list[int] = []

    def handle(lease: leaseq.Lease) -> int:
        with lock:
            tokens.append(lease.token)
        return int(lease.payload["n"])

    thread = start(handle, concurrency=5)
    eventually(lambda: queue.stats().finished == 300, "all finished")
    assert thread.stop() == leaseq.WorkerStats(finished=300)
    assert len(tokens) == len(set(tokens)) == 300
    assert all(answer.result == answer.payload["n"] for answer in queue.answers())
