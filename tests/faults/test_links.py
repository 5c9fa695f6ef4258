"""Links break, fall silent and are slow, and scripts are flushed, during work: nothing is lost, no call
acts twice, and no call hangs."""

from __future__ import annotations

import random
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager

import pytest
import redis

import leaseq
from leaseq.server.embedded import EmbeddedServer
from tests.faults.history import History
from tests.faults.judge import find_faults
from tests.faults.links import (
    NO_TROUBLE,
    Cut,
    Dribble,
    Late,
    Proxy,
    ResetInReply,
    ResetInRequest,
    Silent,
    Slow,
    Trouble,
)
from tests.faults.people import RULES, Crowd, Habits, crowd
from tests.support.waiting import retry_while_unavailable

ReportFigure = Callable[[str], None]
BUSY = Habits(abandons=8, fails=8, walks_away=2, renews=15, answers_late=2)
TIMEOUT = 1  # socket timeout in seconds
# A call may connect, read the policy, and be sent twice; the rest is reserve for a busy machine.
MAX_CALL_SECONDS = 5 * TIMEOUT


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder, fsync="no") as embedded,
    ):
        yield embedded


def summary_of(people: Crowd) -> str:
    return f"{len(people.history.calls):,} calls: nothing lost, nothing done twice"


def check_acted_once(server: EmbeddedServer, people: Crowd) -> None:
    """Check that calls repeated after a lost reply count once, and that the judge finds nothing."""
    with closing(leaseq.connect(server.url)) as client:
        _check_acted_once(leaseq.Queue(client, people.queue.name), people)


def _check_acted_once(queue: leaseq.Queue, people: Crowd) -> None:
    faults = find_faults(people.history, RULES, queue)
    assert not faults, "\n".join(map(str, faults))
    items = {call.id for call in people.history.calls_of("enqueue")}
    counters = queue.stats().counters
    assert counters["enqueued"] == len(items)
    assert counters["finished"] == len(items)
    finished_ids = [event.id for event in journal_events(queue) if event.what == "finished"]
    assert sorted(id for id in finished_ids if id) == sorted(items)


def journal_events(queue: leaseq.Queue) -> Iterator[leaseq.Event]:
    after: str | None = None
    while events := queue.journal(after=after, limit=1_000):
        yield from events
        after = events[-1].cursor


@contextmanager
def manage(queue: leaseq.Queue) -> Iterator[None]:
    """Repeat, in a thread, every call that reads the queue, and every call of a manager on another queue."""
    other_queue, stop = leaseq.Queue(queue._client, f"{queue.name}.other"), threading.Event()

    def repeat_calls() -> None:
        while not stop.is_set():
            for call in (*read_calls(queue), *manager_calls(other_queue)):
                retry_while_unavailable(call)

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(repeat_calls)
        try:
            yield
        finally:
            stop.set()
        future.result()
    queue._client.close()


def read_calls(queue: leaseq.Queue) -> list[Callable[[], object]]:
    return [
        queue.stats,
        queue.exists,
        queue.journal,
        lambda: queue.mine("person 1"),
        lambda: queue.why_nothing("person 1"),
        lambda: queue.get("item-000000"),
        lambda: queue.history("item-000000"),
        lambda: queue.page("inbound", limit=2),
        lambda: list(queue.late_items()),
        queue.clear,
        queue.pause,
        queue.resume,
    ]


def manager_calls(queue: leaseq.Queue) -> list[Callable[[], object]]:
    """Calls for this order; a repeated call gets the result of the first."""
    leases: list[leaseq.Lease] = []

    def reserve(person: str) -> None:
        lease = queue.reserve(person)
        assert lease is not None
        leases.append(lease)

    def finish_late() -> None:
        with pytest.raises(leaseq.LeaseLost) as error:
            queue.finish(leases[0], {"too": "late"})
        assert error.value.answer_kept

    return [
        lambda: queue.configure(max_attempts=1),
        lambda: queue.enqueue({}, id="one"),
        lambda: reserve("ann"),
        lambda: queue.save_draft(leases[0], {"half": 1}),
        lambda: queue.release("one"),
        lambda: queue.change("one", priority=1, delay=0),
        lambda: queue.assign("one", "bob"),
        lambda: reserve("bob"),
        finish_late,
        lambda: queue.finish(leases[1], {"by": "bob"}),
        lambda: queue.undo_finish(leases[1]),
        lambda: queue.adopt("one", leases[0].token),
        lambda: queue.remove("one"),
        lambda: queue.enqueue({}, id="one"),
        lambda: reserve("ann"),
        lambda: queue.fail(leases[2], "no"),
        lambda: queue.take_back(leases[2]),
        lambda: reserve("ann"),
        lambda: queue.fail(leases[3], "no"),
        lambda: queue.revive("one"),
        lambda: queue.remove("one"),
    ]


def working_crowd(proxy: Proxy, name: str, seed: int, items: int) -> AbstractContextManager[Crowd]:
    url = f"{proxy.url}?socket_timeout={TIMEOUT}&socket_connect_timeout={TIMEOUT}"
    return crowd(url, name, seed, items=items, habits=BUSY)


def test_randomly_cut_replies_lose_and_repeat_nothing(
    server: EmbeddedServer, queue_name: str, seed: int, rounds: int, report_figure: ReportFigure
) -> None:
    dice = random.Random(seed)
    choose = lambda script: Cut() if script and dice.random() < 0.2 else NO_TROUBLE  # noqa: E731
    with Proxy(server.url, choose) as proxy, working_crowd(proxy, queue_name, seed, 60 * rounds) as people:
        people.wait_until_done()
    assert proxy.count_of(Cut) > 20 * rounds
    check_acted_once(server, people)
    report_figure(f"{proxy.count_of(Cut)} replies cut in {summary_of(people)}")


def test_cut_reply_of_each_script_loses_and_repeats_nothing(
    server: EmbeddedServer, queue_name: str, seed: int, report_figure: ReportFigure
) -> None:
    """Each script that people or a manager call is cut at its first run."""

    def choose(script: str) -> Trouble:
        return Cut() if script and not proxy.trouble_counts["Cut", script] else NO_TROUBLE

    with (
        Proxy(server.url, choose) as proxy,
        working_crowd(proxy, queue_name, seed, 100) as people,
        manage(leaseq.Queue(leaseq.connect(proxy.url), queue_name)),
    ):
        people.wait_until_done()
    assert {name for kind, name in proxy.trouble_counts if kind == "Cut"} == set(proxy.script_counts) - {""}
    check_acted_once(server, people)
    report_figure(f"{len(proxy.script_counts) - 1} different scripts cut in {summary_of(people)}")


def any_trouble(dice: random.Random) -> Callable[[str], Trouble]:
    """Return a choice of faults for 30 of 200 commands, including connecting; each kind occurs."""
    troubles: dict[Callable[[], Trouble], int] = {
        lambda: NO_TROUBLE: 170,
        Cut: 4,
        lambda: ResetInRequest(dice.random()): 8,
        lambda: ResetInReply(dice.random()): 8,
        lambda: Silent(acts=dice.random() < 0.5): 1,
        lambda: Late(dice.uniform(0, 1)): 1,
        Dribble: 4,
        lambda: Slow(dice.uniform(0, 0.3)): 4,
    }
    deck: list[Callable[[], Trouble]] = []

    def choose(script: str) -> Trouble:
        if not deck:
            deck.extend(trouble for trouble, count in troubles.items() for _ in range(count))
            dice.shuffle(deck)
        return deck.pop()()

    return choose


def test_reset_half_open_late_and_slow_links_lose_nothing(
    server: EmbeddedServer, queue_name: str, seed: int, rounds: int, report_figure: ReportFigure
) -> None:
    choose = any_trouble(random.Random(seed))
    with Proxy(server.url, choose) as proxy, working_crowd(proxy, queue_name, seed, 60 * rounds) as people:
        people.wait_until_done()
    for kind in (ResetInRequest, ResetInReply, Silent, Late, Dribble, Slow):
        assert proxy.count_of(kind), kind.__name__
    longest = max(people.history.calls, key=lambda call: call.end - call.start)
    assert longest.end - longest.start < MAX_CALL_SECONDS, longest
    check_acted_once(server, people)
    kind_counts = Counter(kind for kind, _ in proxy.trouble_counts.elements())
    report_figure(
        f"{dict(kind_counts)} in {summary_of(people)}; the longest call {longest.end - longest.start:.2f} s"
    )


def test_repeated_script_flush_loses_nothing_and_fails_no_call(
    server: EmbeddedServer, queue_name: str, seed: int, rounds: int, report_figure: ReportFigure
) -> None:
    """Other queues of this server load their scripts again as well."""
    dice, stop = random.Random(seed), threading.Event()

    def flush_scripts() -> int:
        flushes = 0
        with redis.Redis.from_url(server.url) as admin:
            while not stop.wait(dice.uniform(0, 0.01)):
                admin.script_flush()
                flushes += 1
        return flushes

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(flush_scripts)
        try:
            with crowd(server.url, queue_name, seed, items=60 * rounds, habits=BUSY) as people:
                people.wait_until_done()
        finally:
            stop.set()
        flushes = future.result()
    assert flushes > rounds
    assert not unanswered_calls(people.history), "no call fails"
    check_acted_once(server, people)
    report_figure(f"scripts forgotten {flushes} times in {summary_of(people)}")


def unanswered_calls(history: History) -> list[object]:
    return [call for call in history.calls if call.outcome == "unknown"]
