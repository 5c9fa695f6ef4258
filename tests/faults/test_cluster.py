"""A cluster's primary is replaced, and a queue's slot is moved to another, while people work."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from itertools import count

import pytest
from redis.crc import key_slot

from leaseq.engine.keys import Keys
from tests.conformance.topology.replicated import ReplicatedCluster, replicated
from tests.faults.course import Course, summed_up
from tests.faults.judge import judged
from tests.faults.outage import MOST, last_to_go_on
from tests.faults.people import RULES, Habits, crowd
from tests.faults.takeover import course
from tests.faults.waiters import waiters
from tests.support.patience import eventually

ITEMS = 100  # around each fault
SLOWLY = Habits(think=0.1)  # so that there is work to the end of it


def kill(cluster: ReplicatedCluster, slot: int, dice: random.Random) -> None:
    """The process of the primary that has the queue is gone, and comes back as a replica."""
    primary = cluster.owner(slot)
    primary.kill()
    cluster.replaced(slot, primary)
    primary.start()


def freeze(cluster: ReplicatedCluster, slot: int, dice: random.Random) -> None:
    """It hangs, and its links with it."""
    primary = cluster.owner(slot)
    primary.freeze()
    cluster.replaced(slot, primary)
    time.sleep(dice.uniform(0, 3))
    primary.thaw()


def move_keys(cluster: ReplicatedCluster, slot: int, dice: random.Random) -> None:
    """Key by key, as every Redis and Valkey can: meanwhile some are here and some there."""
    source, target = cluster.owner(slot), dice.choice(cluster.others(slot))
    target.client.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.id(source))
    source.client.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.id(target))
    while keys := source.client.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 1):
        time.sleep(dice.uniform(0, 0.1))
        source.client.execute_command("MIGRATE", "127.0.0.1", target.port, keys[0], 0, 5_000)
    for node in (target, source):
        node.client.execute_command("CLUSTER", "SETSLOT", slot, "NODE", cluster.id(target))
    eventually(lambda: cluster.owner(slot) is target)


def move_slot(cluster: ReplicatedCluster, slot: int, dice: random.Random) -> None:
    """All at once, as Valkey 9 can."""
    target = dice.choice(cluster.others(slot))
    where = ("SLOTSRANGE", slot, slot, "NODE", cluster.id(target))
    cluster.owner(slot).client.execute_command("CLUSTER", "MIGRATESLOTS", *where)
    eventually(lambda: cluster.owner(slot) is target)


FAULTS: dict[Callable[..., object], int] = {
    kill: 2,
    freeze: 4,
    move_keys: 2,
    move_slot: 2,
}  # By how much less often than `rounds` it comes


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "fault" in metafunc.fixturenames:
        faults = FAULTS if metafunc.config.getoption("--soak") else (kill,)
        metafunc.parametrize("fault", faults, ids=lambda fault: fault.__name__)


def slot_of(name: str) -> int:
    return int(key_slot(Keys(name).ledger.encode()))


def cluster_mate(cluster: ReplicatedCluster, name: str) -> str:
    """Another queue that is on the same node."""
    names = (f"{name}-waited-for-{number}" for number in count())
    owner = cluster.owner(slot_of(name))
    return next(other for other in names if cluster.owner(slot_of(other)) is owner)


def test_a_cluster_that_changes_loses_nothing(
    request: pytest.FixtureRequest,
    seed: int,
    rounds: int,
    measured: Callable[[str], None],
    fault: Callable[[ReplicatedCluster, int, random.Random], None],
) -> None:
    soak = request.config.getoption("--soak")
    dice = random.Random(seed)
    courses: list[Course] = []
    slowest, grants, served = [], 0, 0.0
    with replicated(replicas=2 if soak else 1, node_timeout=2 if soak else 1) as cluster:
        for number in range(rounds // FAULTS[fault] if soak else 1):
            cluster.whole()
            name = f"clustered-{number}"
            slot = slot_of(name)
            with (
                waiters(cluster.url, cluster_mate(cluster, name)) as waiting,
                crowd(
                    cluster.url, name, seed + number, items=ITEMS, habits=SLOWLY, durable="replica"
                ) as people,
            ):
                people.wait_for(dice.randint(10, ITEMS // 3))
                at = time.time()
                fault(cluster, slot, dice)
                served = max(served, waiting.served())
                people.done()
                faults = judged(people.history, RULES, people.queue)
            assert not faults, "\n".join(map(str, faults))
            courses.append(course(cluster, people.history, at))
            slowest.append(last_to_go_on(people.history, at))
            grants += people.grants()
            print(f"{number + 1}: {courses[-1]}; all again within {slowest[-1]:.2f}")
    measured(
        f"Cluster, {fault.__name__}, {grants:,} grants, {summed_up(courses)}; "
        f"each person again within {max(slowest):.2f}, each who waited {served:.2f} after there was an item"
    )
    if soak:
        assert max(one.seconds for one in courses) <= MOST
