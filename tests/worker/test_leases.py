"""Leases are renewed while the handler runs, and no lease is handled twice at the same time."""

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
from tests.support.refused import unavailable
from tests.support.waiting import eventually
from tests.worker.conftest import HeldFunction, Start, wait_for


def count_events(queue: leaseq.Queue, what: str) -> int:
    return sum(event.what == what for event in queue.journal(limit=10_000))


def test_a_renewal_is_planned_within_a_third_of_the_lease(queue: leaseq.Queue) -> None:
    """Two more renewals can be tried before the lease expires."""
    queue.configure(lease_seconds=300)
    queue.enqueue({})
    renewer, before = Renewer(), time.monotonic()
    renewer.add(queue, not_none(queue.reserve("ann")))
    ((due, _),) = renewer._due
    assert before + 80 <= due <= time.monotonic() + 100


@pytest.mark.parametrize(("lease_seconds", "at_most"), [(10, 1), (300, 5)])
def test_renewal_is_retried_soon_if_server_is_unavailable(
    queue: leaseq.Queue, lease_seconds: float, at_most: float
) -> None:
    queue.configure(lease_seconds=lease_seconds)
    queue.enqueue({})
    lease = not_none(queue.reserve("ann"))
    unavailable_queue = leaseq.Queue(leaseq.connect("unix:///nothing/listens/here.sock"), queue.name)
    renewer = Renewer()
    renewer.add(unavailable_queue, lease)
    (entry,) = renewer._entries.values()
    renewer._due.clear()
    renewer._renew(entry)
    ((due, _),) = renewer._due
    assert due <= time.monotonic() + at_most


def test_seemingly_expired_lease_is_renewed_again_after_a_short_pause(
    queue: leaseq.Queue,
) -> None:
    """Each renewed lease seems to be expired already if the server's clock was set back, for instance."""
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
    """The interval is shortened by the jitter, and longer on a busy machine."""
    queue.configure(lease_seconds=0.3)
    queue.enqueue({})
    start(handle)
    eventually(lambda: count_events(queue, "renewed") >= 5, "five renewals")
    handle.go_on.set()
    times = [event.at for event in queue.journal(limit=1_000) if event.what == "renewed"]
    assert min(later - before for before, later in pairwise(times)).total_seconds() > 0.3 / 3 * 0.75


def test_refused_renewal_is_logged_as_warning(queue: leaseq.Queue, caplog: pytest.LogCaptureFixture) -> None:
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
    assert f"not done by {until}: renewals: expected no more renewals of one lease than 0" in record.message


def test_lease_is_kept_when_the_policy_shortens_lease_time(
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


def test_lease_expires_after_last_renewal_and_late_finish_counts(
    queue: leaseq.Queue, start: Start, handle: HeldFunction
) -> None:
    queue.configure(lease_seconds=0.2, renewals=1)
    queue.enqueue({}, id="one")
    thread = start(handle)
    wait_for(handle.at_work)
    queue.pause()  # so that the worker does not reserve it again
    eventually(lambda: queue.clear().returned == 1, "the lease expired")
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


def test_lease_dropped_during_its_renewal_expires(server: Server, queue: leaseq.Queue) -> None:
    """A lease is dropped if its result could not be sent, for instance. Others must get the item then."""
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


def test_answer_of_a_lost_lease_is_kept_and_worker_continues(
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


def test_removed_item_counts_as_lost(queue: leaseq.Queue, start: Start, handle: HeldFunction) -> None:
    queue.enqueue({}, id="one")
    thread = start(handle)
    wait_for(handle.at_work)
    queue.remove("one")
    handle.go_on.set()
    eventually(lambda: thread.worker.stats.lost == 1, "lost")


def test_item_already_held_by_the_person_is_handled_first(
    queue: leaseq.Queue, start: Start, handle: HeldFunction
) -> None:
    queue.enqueue_many([{}, {}])
    old_lease = queue.reserve("bot")
    assert old_lease is not None
    handle.go_on.set()
    start(handle)
    eventually(lambda: queue.stats().finished == 2, "finished")
    assert handle.tokens == [old_lease.token, old_lease.token + 1]


def test_all_items_already_held_are_handled_before_new_items(
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


@pytest.mark.parametrize("error", [unavailable(), leaseq.ServerRefused("restoring")])
def test_lease_from_a_lost_reply_is_handled(
    queue: leaseq.Queue,
    start: Start,
    handle: HeldFunction,
    monkeypatch: pytest.MonkeyPatch,
    error: leaseq.LeaseqError,
) -> None:
    """A reply is lost if no replica confirmed it, for instance. The worker may hold more items, so another
    reserve returns other items."""
    queue.configure(holds=5)
    queue.enqueue_many([{} for _ in range(4)])
    reserve, losses = leaseq.Queue.reserve, iter([True, True])

    def lose_reply(self: leaseq.Queue, person: str, **options: Any) -> leaseq.Lease | None:
        lease = reserve(self, person, **options)
        if lease is not None and next(losses, False):
            raise error
        return lease

    monkeypatch.setattr(leaseq.Queue, "reserve", lose_reply)
    handle.go_on.set()
    start(handle)
    eventually(lambda: queue.stats().finished == 4, "finished")
    assert handle.tokens == [1, 2, 3, 4]


def test_lease_left_by_an_earlier_worker_is_not_renewed(
    queue: leaseq.Queue, start: Start, handle: HeldFunction
) -> None:
    """A restarted worker begins with the item that killed it: renewed, the item would never become dead."""
    queue.configure(lease_seconds=0.5, max_attempts=1)
    queue.enqueue({}, id="poison")
    assert queue.reserve("bot") is not None
    start(handle)
    wait_for(handle.at_work)
    eventually(lambda: queue.clear().died == 1, "dead")
    assert count_events(queue, "renewed") == 0
    handle.go_on.set()


def test_lowered_holds_does_not_give_one_lease_to_two_threads(
    queue: leaseq.Queue, start: Start, handle: HeldFunction
) -> None:
    """A reserve above the lowered limit returns a lease that is already being handled."""
    queue.configure(holds=3)
    queue.enqueue_many([{"n": n} for n in range(2)])
    start(handle, concurrency=3)
    eventually(lambda: len(handle.tokens) == 2, "two in work, and the third thread in line")
    queue.configure(holds=1)
    queue.enqueue_many([{"n": n} for n in range(2, 6)])
    handle.go_on.set()
    eventually(lambda: queue.stats().finished == 6, "all finished")
    assert len(set(handle.tokens)) == len(handle.tokens) == 6


def test_many_short_items_are_each_handled_once(queue: leaseq.Queue, start: Start) -> None:
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
