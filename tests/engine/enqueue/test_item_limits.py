"""The data stored for one item are bounded, so that no call on it takes long (guarantee 9)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import leaseq
from leaseq.engine.replies import Reply
from tests.conftest import Clock, Server
from tests.support.script_calls import replace_calls

Take = Callable[[str], leaseq.Lease]
LARGE = "x" * 250_000


def test_late_answers_are_kept_up_to_a_megabyte_and_then_refused(
    timed_queue: leaseq.Queue, take: Take
) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take("ann")
    timed_queue.finish(lease, {"n": 0})
    kept_flags = []
    for n in range(1, 8):
        with pytest.raises(leaseq.LeaseLost) as error:
            timed_queue.finish(lease, {"n": n, "text": LARGE})
        kept_flags.append(error.value.answer_kept)
    assert kept_flags == [True] * 4 + [False] * 3
    item = timed_queue.get("a")
    assert [answer.result["n"] for answer in item.late_answers] == [1, 2, 3, 4]
    assert timed_queue.stats().counters["late"] == 4
    with pytest.raises(leaseq.LeaseLost) as error:  # an answer that is already kept stays
        timed_queue.finish(lease, {"n": 2, "text": LARGE})
    assert error.value.answer_kept


@pytest.mark.parametrize("excess", [0, 1])
def test_late_answers_may_fill_the_megabyte_exactly(
    timed_queue: leaseq.Queue, take: Take, server: Server, excess: int
) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take("ann")
    timed_queue.finish(lease, {"n": 0})

    def stored_bytes() -> int:
        return int(server.redis.hstrlen(f"leaseq:{{{timed_queue.name}}}:late", "a"))

    def finish_late(letter: str, length: int) -> bool:
        with pytest.raises(leaseq.LeaseLost) as error:
            timed_queue.finish(lease, letter * (length - 2))  # with its quotes
        return error.value.answer_kept

    assert finish_late("a", 250_000)
    overhead = stored_bytes() - 250_000
    assert all(finish_late(letter, 250_000) for letter in "bcd")
    last_length = 1_048_576 - stored_bytes() - 2 - overhead + excess  # 2 for the empty line between
    assert finish_late("e", last_length) == (excess == 0)
    assert (stored_bytes() == 1_048_576) == (excess == 0)


def test_history_keeps_latest_leases_within_size_limit(
    timed_queue: leaseq.Queue, take: Take, server: Server
) -> None:
    timed_queue.enqueue({}, id="a")
    for n in range(80):
        timed_queue.abandon(take("ann"), f"{n} " + "ü" * 1_900)
    item = timed_queue.get("a")
    assert item.attempts == 80
    reasons = [int((grant.reason or "").split()[0]) for grant in item.history]
    assert reasons == list(range(80 - len(reasons), 80))
    assert 10 < len(reasons) < 30
    assert server.redis.hstrlen(f"leaseq:{{{timed_queue.name}}}:history", "a") <= 65_536


@pytest.mark.parametrize("excess", [0, 1])
def test_history_may_fill_its_size_limit_exactly(
    timed_queue: leaseq.Queue, take: Take, server: Server, excess: int
) -> None:
    timed_queue.enqueue({}, id="a")

    def add_to_history(length: int) -> int:
        """Return its new size: it contains all leases except the latest."""
        timed_queue.abandon(take("ann"), "x" * length)
        take("ann")
        return int(server.redis.hstrlen(f"leaseq:{{{timed_queue.name}}}:history", "a"))

    sizes = [add_to_history(900) for _ in range(20)]
    lease_bytes = sizes[-1] - sizes[-2]
    while 65_536 - sizes[-1] > 2 * lease_bytes:
        sizes.append(add_to_history(900))
    last_size = add_to_history(900 + 65_536 - sizes[-1] - lease_bytes + excess)
    assert (last_size == 65_536) == (excess == 0)
    assert last_size <= 65_536


@pytest.mark.parametrize("state", ["inbound", "finished"])
def test_page_of_large_items_is_complete_with_small_replies(
    server: Server, queue_name: str, clock: Clock, state: leaseq.State, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = leaseq.Queue(server.client, queue_name, clock=clock)
    queue.enqueue_many(leaseq.NewItem({"text": LARGE}, id=f"{n}", priority=20 * (n % 9)) for n in range(18))
    while state == "finished" and (lease := queue.reserve("ann")):
        queue.finish(lease, {})
    largest = 0

    def spy(run: Callable[..., Reply], *args: object) -> Reply:
        nonlocal largest
        reply = run(*args)
        largest = max(largest, len(reply.rest) - 4)
        return reply

    replace_calls(monkeypatch, "items", spy)
    page = queue.page(state, limit=50)
    assert sorted(item.id for item in page.items) == sorted(f"{n}" for n in range(18))
    assert page.after is None
    assert 1 < largest <= 5
