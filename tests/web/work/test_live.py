"""The event stream of a work page: changes to its lease and its queue."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.realtime.poller import AccessCheck, Stream
from leaseq.webapp.store.announcements import Announcements
from leaseq.webapp.store.threads import Threads
from leaseq.webapp.work.live import LeaseChannel, LeaseWatcher
from tests.support.leases import take as reserve
from tests.web.conftest import Browser
from tests.web.work_pages import path, take

BEGINNING = [("paused", None), ("announcement", None)]


class Pages:
    """A queue's channel with the work pages of two people, and a clock."""

    def __init__(self, queue: leaseq.Queue, threads: Threads, people: Sequence[str] = ("ann", "bob")) -> None:
        self.now, position, last_answer = 100.0, latest_cursor(queue), threads.latest_answer()
        self.announcements = Announcements(threads._client)
        self.channel = LeaseChannel(
            queue, threads, self.announcements, position, last_answer, clock=lambda: self.now
        )
        self.watchers = [make_watcher(queue, name, position, last_answer) for name in people]

    def poll(self) -> list[list[tuple[str, Any]]]:
        """Poll once; return the events that each page receives."""
        self.now += 1
        for one in self.watchers:  # the poller serves a few at a time
            self.channel.serve([one])
        return [pending_events(one.stream) for one in self.watchers]


def make_watcher(queue: leaseq.Queue, name: str, position: int, answer_position: Any) -> LeaseWatcher:
    leases = {one.token: one.id for one in queue.mine(name)}
    return LeaseWatcher(Stream(), AccessCheck(lambda: True), name, leases, position, answer_position)


def latest_cursor(queue: leaseq.Queue) -> int:
    events = queue.latest_events(1)
    return int(events[0].cursor.partition(".")[0]) if events else 0


def pending_events(stream: Stream) -> list[tuple[str, Any]]:
    if not stream.pending:
        return []
    return [event(one) for one in next(stream.events()).split(b"\n\n") if one]


def event(text: bytes) -> tuple[str, Any]:
    name, data = text.decode().split("\n")
    return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


@pytest.fixture
def letters(queue: leaseq.Queue) -> leaseq.Queue:
    queue.configure(lease_seconds=600)
    for number in range(4):
        queue.enqueue({"n": number}, id=f"l{number}")
    return queue


def test_each_page_receives_its_own_ended_leases_once(letters: leaseq.Queue, threads: Threads) -> None:
    ann, bob, cid = (reserve(letters, name) for name in ("ann", "bob", "cid"))
    pages = Pages(letters, threads)
    assert pages.poll() == [BEGINNING] * 2
    letters.release(ann.id, by="a manager")
    letters.finish(cid, {})
    letters.remove(bob.id, by="a manager")
    assert pages.poll() == [[("ended", [ann.token])], [("ended", [bob.token])]]
    assert pages.poll() == [[], []]


def test_pages_receive_pause_with_reason_and_resume(letters: leaseq.Queue, threads: Threads) -> None:
    letters.pause("lunch", by="a manager")
    pages = Pages(letters, threads)
    assert pages.poll() == [[("paused", "lunch"), ("announcement", None)]] * 2
    letters.resume(by="a manager")
    assert pages.poll() == [[("paused", None)]] * 2
    letters.pause(by="a manager")
    assert pages.poll() == [[("paused", "")]] * 2
    assert pages.poll() == [[], []]


def test_removing_item_ends_all_its_leases(letters: leaseq.Queue, threads: Threads) -> None:
    letters.configure(answers=3)
    for one in ("l1", "l2", "l3"):
        letters.remove(one)
    leases = [reserve(letters, name) for name in ("ann", "bob", "cid")]
    pages = Pages(letters, threads, ("ann", "bob", "cid"))
    pages.poll()
    letters.remove("l0", by="a manager")
    assert pages.poll() == [[("ended", [one.token])] for one in leases]
    assert letters.stats().counters["released"] == 2


def test_late_watcher_receives_leases_ended_since_its_position(
    letters: leaseq.Queue, threads: Threads
) -> None:
    letters.configure(holds=2)
    first, second = reserve(letters, "ann"), reserve(letters, "ann")
    pages = Pages(letters, threads)
    letters.release(first.id)
    position = latest_cursor(letters)
    letters.release(second.id)
    pages.poll()  # before the poller includes the late watcher
    letters.enqueue({})
    pages.poll()
    leases = {second.token: second.id}
    late_watcher = LeaseWatcher(
        Stream(), AccessCheck(lambda: True), "ann", leases, position, threads.latest_answer()
    )
    pages.channel.serve([late_watcher])
    assert pending_events(late_watcher.stream) == [("ended", [second.token]), *BEGINNING]


def test_pages_receive_announcement_and_its_end(letters: leaseq.Queue, threads: Threads) -> None:
    pages = Pages(letters, threads)
    assert pages.poll() == [BEGINNING] * 2
    announced = pages.announcements.announce(letters.name, "Lunch at noon", by="meg")
    assert pages.poll() == [[("announcement", {"id": announced.id, "text": "Lunch at noon"})]] * 2
    assert pages.poll() == [[], []]
    pages.announcements.end(letters.name)
    assert pages.poll() == [[("announcement", None)]] * 2


def test_deleting_queue_ends_lease_of_each_page(queue: leaseq.Queue, threads: Threads) -> None:
    queue.enqueue_many([1, 2])
    leases = [reserve(queue, name) for name in ("ann", "bob")]
    pages = Pages(queue, threads)
    pages.poll()
    queue.delete()
    for lease, one in zip(leases, pages.watchers, strict=True):
        pages.now += 1
        with pytest.raises(leaseq.QueueNotFound):
            pages.channel.serve([one])
        assert pending_events(one.stream) == [("ended", [lease.token])]


def test_queue_without_events_reports_first_released_lease(queue: leaseq.Queue, threads: Threads) -> None:
    queue.configure()
    pages = Pages(queue, threads)
    assert pages.poll() == [BEGINNING] * 2
    queue.enqueue({}, id="one")
    ann = reserve(queue, "ann")
    queue.release("one")
    assert pages.poll() == [[("ended", [ann.token])], []]


@pytest.mark.parametrize("is_held", [True, False])
def test_stream_reports_ended_lease_at_start(
    form_queue: leaseq.Queue, worker_browser: Browser, is_held: bool
) -> None:
    lease = take(form_queue, worker_browser)
    if not is_held:
        form_queue.release(lease.id)
    response = worker_browser.get(f"{path(form_queue, 'live')}?token={lease.token}")
    assert response.mimetype == "text/event-stream"
    chunks: Iterator[Any] = iter(response.response)
    assert next(chunks).startswith(b"retry: ")
    first = next(chunks)
    assert (f"event: ended\ndata: [{lease.token}]".encode() in first) is not is_held
    response.close()


def test_stream_requires_sign_in_and_existing_queue(
    app: Flask, form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    response = Browser(app, "nobody").get(path(form_queue, "live"))
    assert response.status_code == 303
    assert "/login" in response.location
    assert worker_browser.get("/q/no-such-queue/live").status_code == 404


def test_each_page_receives_answers_about_its_own_items_once(letters: leaseq.Queue, threads: Threads) -> None:
    for name in ("ann", "bob"):
        reserve(letters, name)
    threads.answer(letters.name, "l0", "boss", "before they came", message="0")
    pages = Pages(letters, threads)
    pages.poll()
    threads.ask(letters.name, "l0", "ann", "well?", message="1")
    assert pages.poll() == [[], []]
    threads.answer(letters.name, "l0", "boss", "yes", message="2")
    threads.answer(f"{letters.name}.other", "l0", "boss", "of another queue", message="3")
    threads.answer(letters.name, "l1", "boss", "no", message="4")
    threads.answer(letters.name, "l3", "boss", "of nobody's item", message="5")
    assert pages.poll() == [[("answered", ["l0"])], [("answered", ["l1"])]]
    assert pages.poll() == [[], []]
    lease = letters.mine("ann")[0]
    letters.finish(lease, {}, then_reserve=True)
    threads.answer(letters.name, "l2", "boss", "later", message="6")
    assert pages.poll() == [[("answered", ["l2"])], []]
