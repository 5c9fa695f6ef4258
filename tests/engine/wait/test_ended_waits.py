"""A wait that is ended from outside leaves the line immediately, and an item granted meanwhile goes back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

import leaseq
from leaseq.engine.notifications import NoItemYet
from leaseq.queue.reserve_first import reserve_first
from tests.conftest import Server
from tests.engine.waiters import LONG, in_line
from tests.support.leases import not_none
from tests.support.waiting import eventually

Then = Callable[[], object]


class HookedQueue(leaseq.Queue):
    """Calls a function after the server has answered a look, before the waiter continues."""

    def __init__(self, client: leaseq.Client, name: str, *, after_nothing: Then, after_lease: Then) -> None:
        super().__init__(client, name)
        self._after_nothing, self._after_lease = after_nothing, after_lease

    def _reserve(self, *arguments: Any, **keywords: Any) -> leaseq.Lease | NoItemYet:
        outcome = super()._reserve(*arguments, **keywords)
        if isinstance(outcome, leaseq.Lease):
            self._after_lease()
        else:
            self._after_nothing()
        return outcome


def do_nothing() -> None: ...


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.fixture(autouse=True)
def looks_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaseq.engine.notifications._POLL_SECONDS", (600, 600))


def left_no_trace(queue: leaseq.Queue, server: Server, person: str = "ann") -> bool:
    """Check that nothing is left except the attempt, which counts the item's grants."""
    item, stats = queue.get("a"), queue.stats()
    assert (stats.inbound, stats.reserved, stats.waiting, in_line(server, queue)) == (1, 0, 0, 0)
    assert (item.state, item.failures, stats.counters["abandoned"]) == ("inbound", 0, 0)
    assert queue.mine(person) == []
    return True


@pytest.mark.parametrize("in_line_first", [True, False], ids=["in line", "at once"])
@pytest.mark.parametrize("ending", ["stop", "close", "interrupt"])
def test_what_came_while_it_was_ended_is_back_at_once(
    server: Server, queue: leaseq.Queue, ending: str, in_line_first: bool
) -> None:
    queue.configure(max_abandons=1)
    client, stop = leaseq.connect(server.url), threading.Event()
    end: dict[str, Then] = {"stop": stop.set, "close": client.close, "interrupt": interrupt}
    come = (lambda: queue.enqueue({}, id="a")) if in_line_first else do_nothing
    if not in_line_first:
        queue.enqueue({}, id="a")
    hooked_queue = HookedQueue(client, queue.name, after_nothing=come, after_lease=end[ending])
    if ending == "interrupt":
        with pytest.raises(KeyboardInterrupt):
            hooked_queue.reserve("ann", wait=LONG)
    else:
        assert hooked_queue.reserve("ann", wait=LONG, stop=stop) is None
    assert left_no_trace(queue, server)
    new_lease = queue.reserve("ann")
    assert new_lease is not None
    assert new_lease.id == "a"


def test_a_reserve_without_a_wait_that_is_interrupted_takes_nothing_either(
    server: Server, queue: leaseq.Queue
) -> None:
    queue.enqueue({}, id="a")
    with pytest.raises(KeyboardInterrupt):
        HookedQueue(server.client, queue.name, after_nothing=do_nothing, after_lease=interrupt).reserve("ann")
    assert left_no_trace(queue, server)


class PollingOnceQueue(leaseq.Queue):
    """A queue whose waits look again only when woken."""

    def _reserve(self, *arguments: Any, **keywords: Any) -> leaseq.Lease | NoItemYet:
        outcome = super()._reserve(*arguments, **keywords)
        return outcome if isinstance(outcome, leaseq.Lease) else outcome._replace(seconds=600)


def test_an_event_ends_a_wait_at_once(server: Server, queue: leaseq.Queue) -> None:
    queue.configure()
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        ann: Future[leaseq.Lease | None] = pool.submit(
            PollingOnceQueue(server.client, queue.name).reserve, "ann", wait=600, stop=stop
        )
        eventually(lambda: queue.stats().waiting == 1, "she waits")
        stop.set()
        assert ann.result(LONG) is None
    queue.enqueue({}, id="a")
    assert left_no_trace(queue, server)


def test_where_it_is_over_before_it_begins_nothing_is_asked_for(queue: leaseq.Queue) -> None:
    queue.enqueue({}, id="a")
    stop = threading.Event()
    stop.set()
    assert queue.reserve("ann", wait=LONG, stop=stop) is None
    assert queue.get("a").attempts == 0


def test_the_next_in_line_gets_what_is_given_back(server: Server, queue: leaseq.Queue) -> None:
    queue.configure()
    stop = threading.Event()
    hooked_queue = HookedQueue(server.client, queue.name, after_nothing=do_nothing, after_lease=stop.set)
    with ThreadPoolExecutor(2) as pool:
        ann = pool.submit(hooked_queue.reserve, "ann", wait=LONG, stop=stop)
        eventually(lambda: queue.stats().waiting == 1, "ann waits")
        bob = pool.submit(queue.reserve, "bob", wait=LONG)
        eventually(lambda: queue.stats().waiting == 2, "bob waits")
        queue.enqueue({}, id="a")
        lease = bob.result(LONG)
        assert ann.result(LONG) is None
    assert lease is not None
    assert lease.id == "a"


@pytest.mark.parametrize("scope", ["one queue", "several queues"])
@pytest.mark.parametrize("course", ["it came", "it came and went", "it did not come"])
def test_what_they_hold_by_another_call_stays_theirs(
    server: Server, queue: leaseq.Queue, course: str, scope: str
) -> None:
    """Even if the item that came for the ended call was already taken away again."""
    queue.configure(holds=2)
    queue.enqueue({}, id="held")
    lease = queue.reserve("ann")
    stop = threading.Event()

    def come() -> None:
        if course == "it did not come":
            stop.set()
        else:
            queue.enqueue({}, id="a")

    def end() -> None:
        if course == "it came and went":
            queue.release("a")
        stop.set()

    hooked_queue = HookedQueue(server.client, queue.name, after_nothing=come, after_lease=end)
    if scope == "one queue":
        assert hooked_queue.reserve("ann", wait=LONG, stop=stop) is None
    else:
        assert reserve_first([hooked_queue], "ann", (), LONG, stop) is None
    assert queue.mine("ann") == [lease]


def test_a_full_hand_stays_full(server: Server, queue: leaseq.Queue) -> None:
    """The lease that they got back was granted by an earlier call."""
    queue.enqueue({}, id="held")
    lease = queue.reserve("ann")
    stop = threading.Event()
    hooked_queue = HookedQueue(server.client, queue.name, after_nothing=do_nothing, after_lease=stop.set)
    assert hooked_queue.reserve("ann", wait=LONG, stop=stop) is None
    assert queue.mine("ann") == [lease]


def test_a_part_of_an_item_with_several_answers_is_given_back(server: Server, queue: leaseq.Queue) -> None:
    queue.configure(answers=2)
    stop = threading.Event()
    hooked_queue = HookedQueue(
        server.client, queue.name, after_nothing=lambda: queue.enqueue({}, id="a"), after_lease=stop.set
    )
    assert hooked_queue.reserve("ann", wait=LONG, stop=stop) is None
    assert {queue.reserve(person) is not None for person in ("bob", "ann")} == {True}
    assert queue.reserve("cyd") is None


@pytest.mark.not_on("sentinel")  # its URL can't set a client name
def test_a_client_that_was_closed_keeps_no_link(server: Server, queue: leaseq.Queue) -> None:
    queue.configure()
    name = "closed-by-test"
    client = leaseq.connect(f"{server.url}{'&' if '?' in server.url else '?'}client_name={name}")
    with ThreadPoolExecutor(1) as pool:
        ann = pool.submit(leaseq.Queue(client, queue.name).reserve, "ann", wait=600)
        eventually(lambda: queue.stats().waiting == 1, "she waits")
        client.close()
        assert ann.result(LONG) is None
    eventually(lambda: not any(one["name"] == name for one in server.redis.client_list()), "no link is left")


@pytest.mark.parametrize("stop", [True, "now", object()])
def test_what_a_stop_is(queue: leaseq.Queue, stop: Any) -> None:
    with pytest.raises(leaseq.Invalid) as error:
        queue.reserve("ann", wait=1, stop=stop)
    assert error.value.field == "stop"


def test_an_answer_undone_meanwhile_stays_in_hand(queue: leaseq.Queue) -> None:
    """It is listed after the lease of the interrupted reserve, with a newer token."""
    queue.configure(holds=2)
    queue.enqueue({}, id="a")
    first = not_none(queue.reserve("ann"))
    queue.finish(first, {"typed": "much"})
    queue.enqueue({}, id="b")

    def undo_and_interrupt() -> None:
        queue.undo_finish(first)
        interrupt()

    hooked_queue = HookedQueue(
        queue._client, queue.name, after_nothing=do_nothing, after_lease=undo_and_interrupt
    )
    with pytest.raises(KeyboardInterrupt):
        hooked_queue.reserve("ann")
    assert [lease.id for lease in queue.mine("ann")] == ["a"]
    assert queue.get("b").state == "inbound"
