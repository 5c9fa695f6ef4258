"""A cluster's primary is replaced, or a queue's slot is moved to another one, during work."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from itertools import count

import pytest
from redis.crc import key_slot

from leaseq.engine.keys import Keys
from tests.conformance.topology.cluster import ReplicatedCluster, run_cluster
from tests.faults.askers import askers
from tests.faults.course import Course, summarize
from tests.faults.judge import find_faults
from tests.faults.outage import MAX_OUTAGE, recovery_time
from tests.faults.people import RULES, Habits, crowd
from tests.faults.takeover import course_of
from tests.faults.waiters import waiters
from tests.support.waiting import eventually

ITEMS = 100  # for each fault
SLOW = Habits(think_seconds=0.1)  # so that there is work until its end


def kill(cluster: ReplicatedCluster, slot: int, dice: random.Random) -> None:
    """Kill the primary that has the queue; it comes back as a replica."""
    primary = cluster.owner(slot)
    primary.kill()
    cluster.wait_until_replaced(slot, primary)
    primary.start()


def freeze(cluster: ReplicatedCluster, slot: int, dice: random.Random) -> None:
    """Freeze the primary; its links stay open."""
    primary = cluster.owner(slot)
    primary.freeze()
    cluster.wait_until_replaced(slot, primary)
    time.sleep(dice.uniform(0, 3))
    primary.thaw()


def move_keys(cluster: ReplicatedCluster, slot: int, dice: random.Random) -> None:
    """Move the slot key by key, which every Redis and Valkey can do: in between, the keys are split over both
    nodes."""
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
    """Move the slot as a whole, which Valkey 9 can do."""
    target = dice.choice(cluster.others(slot))
    arguments = ("SLOTSRANGE", slot, slot, "NODE", cluster.id(target))
    cluster.owner(slot).client.execute_command("CLUSTER", "MIGRATESLOTS", *arguments)
    eventually(lambda: cluster.owner(slot) is target)


FAULTS: dict[Callable[..., object], int] = {
    kill: 2,
    freeze: 4,
    move_keys: 2,
    move_slot: 2,
}  # `rounds` is divided by this


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "fault" in metafunc.fixturenames:
        faults = FAULTS if metafunc.config.getoption("--soak") else (kill,)
        metafunc.parametrize("fault", faults, ids=lambda fault: fault.__name__)


def slot_of(name: str) -> int:
    return int(key_slot(Keys(name).ledger.encode()))


def neighbour_queue(cluster: ReplicatedCluster, name: str, purpose: str) -> str:
    """Return the name of another queue on the same node."""
    names = (f"{name}-{purpose}-{number}" for number in count())
    owner = cluster.owner(slot_of(name))
    return next(candidate for candidate in names if cluster.owner(slot_of(candidate)) is owner)


def test_cluster_failover_or_slot_migration_loses_nothing(
    request: pytest.FixtureRequest,
    seed: int,
    rounds: int,
    report_figure: Callable[[str], None],
    fault: Callable[[ReplicatedCluster, int, random.Random], None],
) -> None:
    soak = request.config.getoption("--soak")
    dice = random.Random(seed)
    courses: list[Course] = []
    recovery_times, grants, questions, service_time = [], 0, 0, 0.0
    with run_cluster(replicas=2 if soak else 1, node_timeout=2 if soak else 1) as cluster:
        for number in range(rounds // FAULTS[fault] if soak else 1):
            cluster.wait_until_whole()
            name = f"clustered-{number}"
            slot = slot_of(name)
            with (
                waiters(cluster.url, neighbour_queue(cluster, name, "waited-for")) as waiting_people,
                askers(cluster.url, neighbour_queue(cluster, name, "asked")) as asking_programs,
                crowd(
                    cluster.url, name, seed + number, items=ITEMS, habits=SLOW, durable="replica"
                ) as people,
            ):
                people.wait_for_grants(dice.randint(10, ITEMS // 3))
                fault_time = time.time()
                fault(cluster, slot, dice)
                service_time = max(service_time, waiting_people.serve())
                questions += asking_programs.check()
                people.wait_until_done()
                faults = find_faults(people.history, RULES, people.queue)
            assert not faults, "\n".join(map(str, faults))
            courses.append(course_of(cluster, people.history, fault_time))
            recovery_times.append(recovery_time(people.history, fault_time))
            grants += people.grants()
            print(f"{number + 1}: {courses[-1]}; all again within {recovery_times[-1]:.2f}")
    report_figure(
        f"Cluster, {fault.__name__}, {grants:,} grants, {summarize(courses)}; "
        f"each person again within {max(recovery_times):.2f}, "
        f"each who waited {service_time:.2f} after there was an item; {questions} questions settled once"
    )
    if soak:
        assert max(course.seconds for course in courses) <= MAX_OUTAGE
