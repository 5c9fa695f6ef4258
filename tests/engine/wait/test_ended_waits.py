"""A wait that is ended from outside leaves the line immediately, and an item granted meanwhile goes back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

import leaseq
from leaseq import Lease
from leaseq.engine.notifications import Listener, NoItemYet, wait_for
from leaseq.queue.reserve_first import reserve_first
from tests.conftest import Server
from tests.engine.waiters import LONG, in_line
from tests.support.leases import not_none
from tests.support.refused import unavailable
from tests.support.waiting import TIMEOUT, eventually

Hook = Callable[[], object]


class HookedQueue(leaseq.Queue):
    """Calls a function after the server has answered a reserve, before the waiter continues."""

    def __init__(self, client: leaseq.Client, name: str, *, after_nothing: Hook, after_lease: Hook) -> None:
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
def polls_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaseq.engine.notifications._POLL_SECONDS", (600, 600))


def test_wait_that_is_ended_while_server_is_unavailable_raises() -> None:
    listener, stop = Listener(None), threading.Event()
    waiter, _ = listener._add("q", stop, None)

    def attempt(_name: str, _woken: bool) -> leaseq.Lease:
        stop.set()
        raise unavailable()

    with pytest.raises(leaseq.ServerUnavailable):
        wait_for(listener, [waiter], TIMEOUT, [attempt])


def test_wait_goes_on_after_server_was_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaseq.engine.notifications._RETRY_SECONDS", (0, 0))
    listener = Listener(None)
    waiter, _ = listener._add("q", None, None)
    lease, failures = Lease.__new__(Lease), [unavailable(), unavailable()]

    def attempt(_name: str, _woken: bool) -> leaseq.Lease:
        if failures:
            raise failures.pop()
        return lease

    assert wait_for(listener, [waiter], TIMEOUT, [attempt]) is lease
    assert not failures


def test_wait_ends_in_time_however_late_its_next_try_is() -> None:
    listener = Listener(None)
    waiter, _ = listener._add("q", None, None)
    assert wait_for(listener, [waiter], 0.05, [lambda *_: NoItemYet(600, 0)]) is None


def check_nothing_is_left(queue: leaseq.Queue, server: Server, person: str = "ann") -> bool:
    """Check that nothing is left except the attempt, which counts the item's grants."""
    item, stats = queue.get("a"), queue.stats()
    assert (stats.inbound, stats.reserved, stats.waiting, in_line(server, queue)) == (1, 0, 0, 0)
    assert (item.state, item.failures, stats.counters["abandoned"]) == ("inbound", 0, 0)
    assert queue.mine(person) == []
    return True


@pytest.mark.parametrize("in_line_first", [True, False], ids=["in line", "at once"])
@pytest.mark.parametrize("ending", ["stop", "close", "interrupt"])
@pytest.mark.parametrize("scope", ["one queue", "several queues"])
def test_item_granted_to_ended_wait_returns_at_once(
    server: Server, queue: leaseq.Queue, scope: str, ending: str, in_line_first: bool
) -> None:
    queue.configure(max_abandons=1)
    client, stop = leaseq.connect(server.url), threading.Event()
    end: dict[str, Hook] = {"stop": stop.set, "close": client.close, "interrupt": interrupt}
    grant = (lambda: queue.enqueue({}, id="a")) if in_line_first else do_nothing
    if not in_line_first:
        queue.enqueue({}, id="a")
    hooked_queue = HookedQueue(client, queue.name, after_nothing=grant, after_lease=end[ending])

    def reserve() -> leaseq.Lease | None:
        if scope == "one queue":
            return hooked_queue.reserve("ann", wait=LONG, stop=stop)
        return reserve_first([hooked_queue], "ann", (), LONG, stop)

    if ending == "interrupt":
        with pytest.raises(KeyboardInterrupt):
            reserve()
    else:
        assert reserve() is None
    assert check_nothing_is_left(queue, server)
    new_lease = queue.reserve("ann")
    assert new_lease is not None
    assert new_lease.id == "a"


def test_interrupted_reserve_without_wait_takes_nothing(server: Server, queue: leaseq.Queue) -> None:
    queue.enqueue({}, id="a")
    with pytest.raises(KeyboardInterrupt):
        HookedQueue(server.client, queue.name, after_nothing=do_nothing, after_lease=interrupt).reserve("ann")
    assert check_nothing_is_left(queue, server)


class WokenOnlyQueue(leaseq.Queue):
    """A queue whose waits call the server again only when woken."""

    def _reserve(self, *arguments: Any, **keywords: Any) -> leaseq.Lease | NoItemYet:
        outcome = super()._reserve(*arguments, **keywords)
        return outcome if isinstance(outcome, leaseq.Lease) else outcome._replace(seconds=600)


def test_stop_event_ends_wait_at_once(server: Server, queue: leaseq.Queue) -> None:
    queue.configure()
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        ann: Future[leaseq.Lease | None] = pool.submit(
            WokenOnlyQueue(server.client, queue.name).reserve, "ann", wait=600, stop=stop
        )
        eventually(lambda: queue.stats().waiting == 1, "she waits")
        stop.set()
        assert ann.result(LONG) is None
    queue.enqueue({}, id="a")
    assert check_nothing_is_left(queue, server)


def test_reserve_with_stop_already_set_takes_nothing(queue: leaseq.Queue) -> None:
    queue.enqueue({}, id="a")
    stop = threading.Event()
    stop.set()
    assert queue.reserve("ann", wait=LONG, stop=stop) is None
    assert queue.get("a").attempts == 0


def test_next_in_line_gets_item_granted_to_ended_wait(server: Server, queue: leaseq.Queue) -> None:
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
@pytest.mark.parametrize("course", ["granted", "granted and released", "not granted"])
def test_ended_wait_keeps_lease_granted_by_another_call(
    server: Server, queue: leaseq.Queue, course: str, scope: str
) -> None:
    """Even if the item that the ended call was granted was already released."""
    queue.configure(holds=2)
    queue.enqueue({}, id="held")
    lease = queue.reserve("ann")
    stop = threading.Event()

    def grant() -> None:
        if course == "not granted":
            stop.set()
        else:
            queue.enqueue({}, id="a")

    def end() -> None:
        if course == "granted and released":
            queue.release("a")
        stop.set()

    hooked_queue = HookedQueue(server.client, queue.name, after_nothing=grant, after_lease=end)
    if scope == "one queue":
        assert hooked_queue.reserve("ann", wait=LONG, stop=stop) is None
    else:
        assert reserve_first([hooked_queue], "ann", (), LONG, stop) is None
    assert queue.mine("ann") == [lease]


def test_ended_wait_at_holds_limit_keeps_held_lease(server: Server, queue: leaseq.Queue) -> None:
    """The lease that they got back was granted by an earlier call."""
    queue.enqueue({}, id="held")
    lease = queue.reserve("ann")
    stop = threading.Event()
    hooked_queue = HookedQueue(server.client, queue.name, after_nothing=do_nothing, after_lease=stop.set)
    assert hooked_queue.reserve("ann", wait=LONG, stop=stop) is None
    assert queue.mine("ann") == [lease]


def test_ended_wait_returns_assignment_of_item_with_several_answers(
    server: Server, queue: leaseq.Queue
) -> None:
    queue.configure(answers=2)
    stop = threading.Event()
    hooked_queue = HookedQueue(
        server.client, queue.name, after_nothing=lambda: queue.enqueue({}, id="a"), after_lease=stop.set
    )
    assert hooked_queue.reserve("ann", wait=LONG, stop=stop) is None
    assert {queue.reserve(person) is not None for person in ("bob", "ann")} == {True}
    assert queue.reserve("cyd") is None


@pytest.mark.not_on("sentinel")  # its URL can't set a client name
def test_closed_client_keeps_no_connection(server: Server, queue: leaseq.Queue) -> None:
    queue.configure()
    name = "closed-by-test"
    client = leaseq.connect(f"{server.url}{'&' if '?' in server.url else '?'}client_name={name}")
    with ThreadPoolExecutor(1) as pool:
        ann = pool.submit(leaseq.Queue(client, queue.name).reserve, "ann", wait=600)
        eventually(lambda: queue.stats().waiting == 1, "she waits")
        client.close()
        assert ann.result(LONG) is None
    eventually(
        lambda: not any(one["name"] == name for one in server.redis.client_list()), "no connection is left"
    )


@pytest.mark.parametrize("stop", [True, "now", object()])
def test_invalid_stop_is_refused(queue: leaseq.Queue, stop: Any) -> None:
    with pytest.raises(leaseq.Invalid) as error:
        queue.reserve("ann", wait=1, stop=stop)
    assert error.value.field == "stop"


def test_lease_from_undo_is_kept_if_reserve_is_interrupted(queue: leaseq.Queue) -> None:
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
