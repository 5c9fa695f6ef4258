"""Results, errors and arguments of a worker, and how its threads share items and queues."""

from __future__ import annotations

import logging
import threading
import traceback
from typing import Any

import pytest

import leaseq
from leaseq.worker.handlers import QueueHandlers
from leaseq.worker.outcomes import error_text
from leaseq.worker.source import Source
from tests.conftest import Server
from tests.support.leases import not_none
from tests.support.waiting import TIMEOUT, eventually
from tests.worker.conftest import Start, wait_for


def wait_for_finished(queue: leaseq.Queue, count: int) -> None:
    eventually(lambda: queue.stats().finished == count, f"{count} items finished")


def test_number_of_slots_is_limited_by_holds(queue: leaseq.Queue) -> None:
    """Any further thread would reserve a lease that is already being handled."""
    queue.configure(holds=2)
    source = Source(queue, QueueHandlers(lambda _: None), "bot", 4)
    assert [source.acquire_slot() for _ in range(4)] == [True, True, False, False]
    source.release_slot()
    assert source.acquire_slot()


def test_lease_already_handled_is_not_reported_as_new(queue: leaseq.Queue) -> None:
    """The reply to a reserve sent before the finish may arrive after that of the finish."""
    queue.enqueue({})
    source = Source(queue, QueueHandlers(lambda _: None), "bot", 2)
    lease, is_new = source.reserve((), 0, threading.Event())
    assert is_new
    source.release_slot(lease)
    assert source.reserve((), 0, threading.Event()) == (lease, False)


def test_item_enqueued_after_worker_start_is_handled(queue: leaseq.Queue, start: Start) -> None:
    at_work = threading.Event()
    start(lambda _: at_work.set())
    queue.enqueue({})
    wait_for(at_work)


def test_worker_may_start_before_its_queue_exists(queue: leaseq.Queue) -> None:
    source = Source(queue, QueueHandlers(lambda lease: lease.payload), "bot", concurrency=1)
    stop = threading.Event()
    assert source.reserve((), 0, stop) == (None, False)
    queue.enqueue({"n": 1}, id="one")
    lease, is_new = source.reserve((), 0, stop)
    assert lease
    assert (lease.id, is_new) == ("one", True)


def test_missing_queue_is_logged_once(
    queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged again if the queue is deleted later."""
    monkeypatch.setattr("leaseq.worker.source._POLICY_SECONDS", -1)
    source = Source(queue, QueueHandlers(lambda _: None), "bot", concurrency=2)

    def entry_warnings() -> list[str]:
        caplog.clear()
        for _ in range(2):
            assert source.acquire_slot()
            source.release_slot()
        return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]

    message = f"{queue.name}: there is no queue of this name: the worker waits until it is created"
    assert (entry_warnings(), entry_warnings()) == ([message], [])
    queue.configure(holds=2)
    assert entry_warnings() == []
    queue.delete()
    assert entry_warnings() == [message]


def test_exception_fails_item_with_its_message_only(queue: leaseq.Queue, start: Start) -> None:
    queue.configure(max_attempts=2, retry_seconds=0)
    queue.enqueue({"n": 1}, id="one")

    def handle(lease: leaseq.Lease) -> None:
        secret = "hunter2"
        raise ValueError(f"no {lease.payload['n']} in {len(secret)}")

    thread = start(handle)
    eventually(lambda: queue.stats().dead == 1, "dead")
    assert thread.stop() == leaseq.WorkerStats(failed=2)
    item = queue.get("one")
    assert (item.failures, item.last_error) == (2, "ValueError: no 1 in 7")


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even that")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("x" * 5_000), "ValueError: " + "x" * 1_988),
        (UnprintableError(), "UnprintableError"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
    ],
    ids=["long", "unprintable", "exit", "interrupt"],
)
def test_any_exception_gives_a_valid_error_text(
    queue: leaseq.Queue, start: Start, error: BaseException, text: str
) -> None:
    queue.configure(max_attempts=1)
    queue.enqueue({}, id="one")

    def handle(_: leaseq.Lease) -> None:
        raise error

    start(handle)
    eventually(lambda: queue.stats().dead == 1, "dead")
    assert queue.get("one").last_error == text


@pytest.mark.parametrize("kind", ["function", "coroutine"])
def test_logged_traceback_has_only_frames_of_the_handler(
    queue: leaseq.Queue, start: Start, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    queue.configure(max_attempts=1)
    queue.enqueue({}, id="one")

    def inner() -> None:
        raise ValueError("no")

    def handle(_: leaseq.Lease) -> None:
        inner()

    async def handle_async(_: leaseq.Lease) -> None:
        inner()

    start(handle if kind == "function" else handle_async)
    eventually(lambda: queue.stats().dead == 1, "dead")
    (exc_info,) = [record.exc_info for record in caplog.records if record.exc_info]
    frames = traceback.extract_tb(exc_info[2])
    assert [frame.name for frame in frames] == ["handle" if kind == "function" else "handle_async", "inner"]


def test_lone_surrogate_in_error_text_is_replaced() -> None:
    """Tested separately: pytest-xdist can't transmit a log with such an error."""
    assert error_text(ValueError("\ud800")) == "ValueError: ?"
    assert error_text(TimeoutError()) == "TimeoutError"


FORM = {"ask": {"type": "object", "required": ["label"], "properties": {"stars": {"type": "integer"}}}}


@pytest.mark.parametrize(
    ("form", "result", "parts"),
    [
        (FORM, {"stars": "many"}, ["label", "stars", "does not fit the form"]),
        (None, {1, 2}, ["result", "JSON values only"]),
        (None, "x" * 300_000, ["262,144 bytes"]),
        (None, ..., ["result"]),
    ],
    ids=["form", "set", "long", "ellipsis"],
)
def test_invalid_result_fails_item(
    queue: leaseq.Queue, start: Start, form: Any, result: Any, parts: list[str]
) -> None:
    queue.configure(max_attempts=1, form=form)
    queue.enqueue({}, id="one")
    thread = start(lambda _: result)
    eventually(lambda: queue.stats().dead == 1, "dead")
    for part in parts:
        assert part in str(queue.get("one").last_error)
    assert thread.stop().failed == 1


@pytest.mark.parametrize("holds", [1, 3])
def test_worker_handles_as_many_items_at_once_as_holds_allows(
    queue: leaseq.Queue, start: Start, holds: int, caplog: pytest.LogCaptureFixture
) -> None:
    queue.configure(holds=holds)
    queue.enqueue_many([{"n": n} for n in range(4)])
    all_at_work, go_on = threading.Event(), threading.Event()
    leases: list[leaseq.Lease] = []

    def handle(lease: leaseq.Lease) -> None:
        leases.append(lease)
        if len(leases) == holds:
            all_at_work.set()
        assert go_on.wait(TIMEOUT)

    start(handle, concurrency=4)
    wait_for(all_at_work)
    assert len({lease.token for lease in queue.mine("bot")}) == len(leases) == holds
    go_on.set()
    wait_for_finished(queue, 4)
    assert {answer.person for answer in queue.answers()} == {"bot"}
    assert f"one person may hold {holds} of its items" in caplog.text


def test_worker_gives_one_of_several_answers_to_each_item(queue: leaseq.Queue, start: Start) -> None:
    queue.configure(answers=2, holds=4)
    queue.enqueue_many([leaseq.NewItem({}, id=f"item-{n}") for n in range(6)])
    first_thread = start(lambda _: {}, concurrency=4)
    wait_for_finished(queue, 6)
    assert queue.why_nothing("bot").reason == "not-eligible"
    start(lambda _: {}, person="other-bot", concurrency=4)
    wait_for_finished(queue, 12)
    assert first_thread.stop().finished == 6
    for item in queue.items("finished"):
        assert sorted(answer.person for answer in queue.get(item.id).answers) == ["bot", "other-bot"]


def test_worker_reserves_with_its_skills(queue: leaseq.Queue, start: Start) -> None:
    queue.enqueue({}, id="one", requires=["fr", "legal"])
    start(lambda _: "fait", skills=["legal", "fr"])
    wait_for_finished(queue, 1)


def test_worker_takes_items_from_queues_in_turn(server: Server, queue_name: str, start: Start) -> None:
    """With one thread, a queue with few items is served before the end of a long one."""
    full_queue, little_queue = (
        leaseq.Queue(server.client, f"{queue_name}.{name}") for name in ("full", "little")
    )
    full_queue.enqueue_many([{} for _ in range(40)])
    little_queue.enqueue_many([{} for _ in range(3)])
    order: list[str] = []

    def handle(lease: leaseq.Lease) -> None:
        order.append(lease.queue)

    start({full_queue.name: handle, little_queue.name: handle})
    wait_for_finished(full_queue, 40)
    assert order[:6] == [full_queue.name, little_queue.name] * 3


def test_empty_queue_does_not_block_other_queues(server: Server, queue_name: str, start: Start) -> None:
    """An item is added to the second queue while the only thread waits."""
    at_work = threading.Event()
    start({f"{queue_name}.a": lambda _: None, f"{queue_name}.b": lambda _: at_work.set()})
    leaseq.Queue(server.client, f"{queue_name}.b").enqueue({})
    wait_for(at_work)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("handlers", {}),
        ("handlers", [len]),
        ("handlers", {"reviews": "len"}),
        ("queue", {"Not A Queue": len}),
        ("person", ""),
        ("person", "x" * 65),
        ("concurrency", 0),
        ("concurrency", 2.5),
        ("skills", "fr"),
        ("grace", -1),
    ],
)
def test_invalid_arguments_are_refused(server: Server, field: str, value: Any) -> None:
    options: dict[str, Any] = {"handlers": {"reviews": len}, "person": "bot", "concurrency": 2}
    options["handlers" if field == "queue" else field] = value
    with pytest.raises(leaseq.Invalid) as error:
        leaseq.Worker(server.client, **options)
    assert error.value.field == field


def test_finished_lease_is_no_longer_renewed(queue: leaseq.Queue, start: Start) -> None:
    queue.configure(lease_seconds=300)
    queue.enqueue({})
    thread = start(lambda _: None)
    wait_for_finished(queue, 1)
    assert thread.worker._renewer._entries == {}


def test_failed_slot_acquisition_releases_no_slot(server: Server, queue: leaseq.Queue) -> None:
    queue.configure(holds=1)
    worker = leaseq.Worker(server.client, {queue.name: lambda _: None}, person="bot")
    (source,) = worker._sources
    assert source.acquire_slot()
    assert worker._reservers[0]._reserve_from(source, 0) == (None, False)
    assert not source.acquire_slot()


def test_lease_granted_after_grace_time_is_given_back_unhandled(server: Server, queue: leaseq.Queue) -> None:
    queue.enqueue({}, id="one")
    leases: list[leaseq.Lease] = []
    worker = leaseq.Worker(server.client, {queue.name: leases.append}, person="bot")
    worker._stop_retrying.set()
    worker._work(worker._sources[0], not_none(queue.reserve("bot")))
    assert leases == []
    assert queue.get("one").state == "inbound"
