"""Sentinels replace the primary while people work: what a replica confirmed is there, and work goes on."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

import pytest

from tests.conformance.topology.watched import SentinelService, watched
from tests.faults.course import Course, summed_up
from tests.faults.failover import course
from tests.faults.judge import judged
from tests.faults.outage import MOST, last_to_go_on
from tests.faults.people import RULES, Crowd, Habits, crowd
from tests.faults.waiters import waiters
from tests.support.patience import eventually

ITEMS = 100  # around each fault
OURS = 1.5  # seconds from when there is another primary with a replica, which says once a second what it has
SLOWLY = Habits(think=0.1)  # so that there is work to the end of the last one


def kill(service: SentinelService, people: Crowd, dice: random.Random) -> float:
    """The primary's process is gone, and comes back as a replica."""
    primary, at = service.primary(), time.time()
    primary.kill()
    service.start_again(primary)
    return at


def freeze(service: SentinelService, people: Crowd, dice: random.Random) -> float:
    """A machine hangs, with the primary and a sentinel on it; the links to both stay."""
    primary, sentinel, at = service.primary(), service.sentinels[0], time.time()
    before = people.grants()
    primary.freeze()
    sentinel.freeze()
    eventually(lambda: service.has_another_primary(primary, silent=sentinel))
    people.wait_for(before + 20)  # there may be no more than these once all sentinels name another
    primary.thaw()
    sentinel.thaw()
    return at


def lag(service: SentinelService, people: Crowd, dice: random.Random) -> float:
    """One replica or both fall behind; then the primary is gone."""
    primary, behind = service.primary(), dice.sample(service.replicas(), dice.choice((1, 1, 2)))
    for node in behind:
        node.freeze()
    time.sleep(dice.uniform(0, 1.5))
    at = time.time()
    primary.kill()
    time.sleep(dice.uniform(0, 1.5))
    for node in behind:
        node.thaw()
    service.start_again(primary)
    return at


def split(service: SentinelService, people: Crowd, dice: random.Random) -> float:
    """The primary doesn't hear its replicas and the sentinels any more; who works hears all of them."""
    primary, at, before = service.primary(), time.time(), people.grants()
    service.splitters[primary].cut()
    eventually(lambda: service.has_another_primary(primary))
    people.wait_for(before + dice.randint(1, 40))
    service.splitters[primary].heal()
    return at


FAULTS: dict[Callable[..., object], int] = {
    kill: 1,
    freeze: 4,
    lag: 2,
    split: 1,
}  # By how much less often than a kill it comes


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "fault" in metafunc.fixturenames:
        faults = FAULTS if metafunc.config.getoption("--soak") else (kill,)
        metafunc.parametrize("fault", faults, ids=lambda fault: fault.__name__)


def test_a_failover_loses_nothing(
    request: pytest.FixtureRequest,
    seed: int,
    rounds: int,
    measured: Callable[[str], None],
    fault: Callable[[SentinelService, Crowd, random.Random], float],
) -> None:
    soak = request.config.getoption("--soak")
    dice = random.Random(seed)
    times = rounds // FAULTS[fault] if soak else 1
    if fault is split and sys.platform != "linux":
        pytest.skip("platform: only Linux has all of 127.0.0.0/8, by which the proxy tells its peers apart")
    courses: list[Course] = []
    slowest, grants, served = [], 0, 0.0
    with watched(split=fault is split) as service:
        for number in range(times):
            service.whole()
            name = f"watched-{number}"
            with (
                waiters(service.url, f"{name}-waited-for") as waiting,
                crowd(
                    service.url, name, seed + number, items=ITEMS, habits=SLOWLY, durable="replica"
                ) as people,
            ):
                people.wait_for(dice.randint(10, ITEMS // 3))
                at = fault(service, people, dice)
                served = max(served, waiting.served())
                people.done()
                faults = judged(people.history, RULES, people.queue)
            assert not faults, "\n".join(map(str, faults))
            courses.append(course(service, people.history, at))
            slowest.append(last_to_go_on(people.history, at))
            grants += people.grants()
            print(f"{number + 1}: {courses[-1]}; all again within {slowest[-1]:.2f}")
    measured(
        f"Sentinel, {fault.__name__}, {grants:,} grants, {summed_up(courses)}; "
        f"each person again within {max(slowest):.2f}, each who waited {served:.2f} after there was an item"
    )
    if soak:  # sentinels that begin anew wait for twice the failover-timeout before: that is theirs
        assert all(one.seconds <= MOST for one in courses if not one.anew)
        assert max(one.clients for one in courses) <= OURS
