"""Sentinels replace the primary during work: nothing that a replica confirmed is lost, and work continues."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

import pytest

from tests.conformance.topology.sentinels import SentinelService, run_sentinels
from tests.faults.askers import askers
from tests.faults.course import Course, summarize
from tests.faults.failover import course_of
from tests.faults.judge import find_faults
from tests.faults.outage import MAX_OUTAGE, recovery_time
from tests.faults.people import RULES, Crowd, Habits, crowd
from tests.faults.waiters import waiters
from tests.support.waiting import eventually

ITEMS = 100  # for each fault
# After there is a new primary with a replica, which reports its offset once a second.
MAX_CLIENT_SECONDS = 1.5
SLOW = Habits(think_seconds=0.1)  # so that there is work until the end of the last one


def kill(service: SentinelService, people: Crowd, dice: random.Random) -> float:
    """Kill the primary; it comes back as a replica."""
    primary, at = service.primary(), time.time()
    primary.kill()
    service.start_again(primary)
    return at


def freeze(service: SentinelService, people: Crowd, dice: random.Random) -> float:
    """A machine with the primary and a sentinel hangs; the links to both stay open."""
    primary, sentinel, at = service.primary(), service.sentinels[0], time.time()
    before = people.grants()
    primary.freeze()
    sentinel.freeze()
    eventually(lambda: service.has_another_primary(primary, silent=sentinel))
    people.wait_for_grants(before + 20)  # later there may be no more than these
    primary.thaw()
    sentinel.thaw()
    return at


def lag(service: SentinelService, people: Crowd, dice: random.Random) -> float:
    """One or both replicas fall behind; then the primary is killed."""
    primary, lagging_nodes = service.primary(), dice.sample(service.replicas(), dice.choice((1, 1, 2)))
    for node in lagging_nodes:
        node.freeze()
    time.sleep(dice.uniform(0, 1.5))
    at = time.time()
    primary.kill()
    time.sleep(dice.uniform(0, 1.5))
    for node in lagging_nodes:
        node.thaw()
    service.start_again(primary)
    return at


def split(service: SentinelService, people: Crowd, dice: random.Random) -> float:
    """Cut the primary off from its replicas and the sentinels; clients still reach all of them."""
    primary, at, before = service.primary(), time.time(), people.grants()
    service.splitters[primary].cut()
    eventually(lambda: service.has_another_primary(primary))
    people.wait_for_grants(before + dice.randint(1, 40))
    service.splitters[primary].heal()
    return at


FAULTS: dict[Callable[..., object], int] = {
    kill: 1,
    freeze: 4,
    lag: 2,
    split: 1,
}  # `rounds` is divided by this


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "fault" in metafunc.fixturenames:
        faults = FAULTS if metafunc.config.getoption("--soak") else (kill,)
        metafunc.parametrize("fault", faults, ids=lambda fault: fault.__name__)


def test_a_failover_loses_nothing(
    request: pytest.FixtureRequest,
    seed: int,
    rounds: int,
    report_figure: Callable[[str], None],
    fault: Callable[[SentinelService, Crowd, random.Random], float],
) -> None:
    soak = request.config.getoption("--soak")
    dice = random.Random(seed)
    round_count = rounds // FAULTS[fault] if soak else 1
    if fault is split and sys.platform != "linux":
        pytest.skip("platform: only Linux has all of 127.0.0.0/8, by which the proxy tells its peers apart")
    courses: list[Course] = []
    recovery_times, grants, questions, service_time = [], 0, 0, 0.0
    with run_sentinels(split=fault is split) as service:
        for number in range(round_count):
            service.wait_until_whole()
            name = f"watched-{number}"
            with (
                waiters(service.url, f"{name}-waited-for") as waiting_people,
                askers(service.url, f"{name}-asked") as asking_programs,
                crowd(
                    service.url, name, seed + number, items=ITEMS, habits=SLOW, durable="replica"
                ) as people,
            ):
                people.wait_for_grants(dice.randint(10, ITEMS // 3))
                fault_time = fault(service, people, dice)
                service_time = max(service_time, waiting_people.serve())
                questions += asking_programs.check()
                people.wait_until_done()
                faults = find_faults(people.history, RULES, people.queue)
            assert not faults, "\n".join(map(str, faults))
            courses.append(course_of(service, people.history, fault_time))
            recovery_times.append(recovery_time(people.history, fault_time))
            grants += people.grants()
            print(f"{number + 1}: {courses[-1]}; all again within {recovery_times[-1]:.2f}")
    report_figure(
        f"Sentinel, {fault.__name__}, {grants:,} grants, {summarize(courses)}; "
        f"each person again within {max(recovery_times):.2f}, "
        f"each who waited {service_time:.2f} after there was an item; {questions} questions settled once"
    )
    if soak:  # sentinels with a setback first wait twice the failover-timeout
        assert all(course.seconds <= MAX_OUTAGE for course in courses if not course.setbacks)
        assert max(course.client_seconds for course in courses) <= MAX_CLIENT_SECONDS
