"""The server's memory is full during work: nothing can be added, and the items in the queue are worked."""

from __future__ import annotations

import tempfile

import redis

import leaseq
from leaseq.server.embedded import EmbeddedServer
from tests.faults.judge import find_faults
from tests.faults.people import RULES, crowd
from tests.support.refused import raises
from tests.support.waiting import eventually

MARGIN = 50_000  # bytes above the used memory: room for a few more items
PEOPLE = ("bob", "cem", "dan", "eve", "fay", "ann")


def fill_memory(server: redis.Redis, queue: leaseq.Queue) -> None:
    """Enqueue until the server accepts no more items; then it stays full, whatever a connection or script
    frees."""
    server.config_set("maxmemory", server.info("memory")["used_memory"] + MARGIN)
    with raises(leaseq.ServerRefused, "server_refused", "used memory > 'maxmemory'"):
        queue.enqueue_many({"text": "x" * 200, "n": n} for n in range(10_000))
    server.config_set("maxmemory", server.info("memory")["used_memory"] // 2)


def reserve_for_all(queue: leaseq.Queue) -> dict[str, leaseq.Lease]:
    """Reserve an item for each person; the last lease, ann's, expires soon."""
    queue.enqueue_many([{}] * len(PEOPLE))
    leases = {}
    for person in PEOPLE:
        queue.configure(lease_seconds=0.1 if person == "ann" else 600)
        lease = queue.reserve(person)
        assert lease is not None
        leases[person] = lease
    queue.configure(lease_seconds=600)
    return leases


def work_all_leases(queue: leaseq.Queue, leases: dict[str, leaseq.Lease]) -> None:
    eventually(lambda: queue.clear().returned == 1, "ann's lease is taken back")
    queue.save_draft(leases["bob"], {"half": "an answer"})
    queue.save_draft(queue.renew(leases["cem"]), {"typed": "much"})
    queue.abandon(leases["dan"], "no time")
    assert queue.fail(leases["eve"], "unreadable").retry_at is not None
    next_lease = queue.finish(leases["fay"], {"x": 1}, then_reserve=True).next
    assert next_lease is not None
    for lease in (leases["bob"], leases["cem"], next_lease):
        assert queue.finish(lease, {"x": 2}).late is False


def test_full_memory_refuses_new_items_and_loses_nothing(seed: int, rounds: int) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder, fsync="no") as embedded,
        redis.Redis.from_url(embedded.url) as server,
        crowd(embedded.url, "full", seed, people=6, items=80 * rounds) as people,
    ):
        client = leaseq.connect(embedded.url)
        for number in range(rounds):
            second_queue = leaseq.Queue(client, f"beside-{number}")
            leases = reserve_for_all(second_queue)
            fill_memory(server, second_queue)
            server.script_flush()  # there is room for the scripts
            work_all_leases(second_queue, leases)
            assert second_queue.stats().finished == 4
            eventually(lambda: people.queue.stats().inbound == 0, "all that waits is handed out")
            with raises(leaseq.ServerRefused, "server_refused", "maxmemory"):
                second_queue.enqueue({})
            server.config_set("maxmemory", 0)
            assert second_queue.enqueue({}).added
        people.wait_until_done()
        faults = find_faults(people.history, RULES, people.queue)
    print(f"{rounds} times the memory was full, {people.grants()} grants, faults found: {len(faults)}")
    assert not faults, "\n".join(map(str, faults))
