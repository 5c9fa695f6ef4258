"""Memory stays flat under steady load: in each web process, the clear job and the server.

The long form lasts LEASEQ_SOAK_MINUTES, by default an hour. A server keeps up to about a million journal
entries for each queue, which takes longer than that to fill: the journals, like the items, are not counted as
the server's memory.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import redis

from tests.faults.memory import Sampler, child_pids, resident_bytes, trend
from tests.faults.steady_load import QUEUES, Load, run_leaseq_under_load

SECONDS = 1.0  # of the short form, which shows that each process is sampled
GROWTH = 0.02  # in an hour; the same for a shorter time, since pools and caches fill up
WARM_UP = 1 / 3  # share of the time that is not counted


def test_growth_of_noisy_samples_is_measured() -> None:
    line = trend([(float(n), 100e6 + 1_000 * n + (-1) ** n * 50_000) for n in range(600)])
    assert line.hourly_growth == pytest.approx(0.036, rel=0.05)
    assert line.seconds == 599


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="platform: no /proc to look into")
def test_memory_stays_flat(request: pytest.FixtureRequest, seed: int) -> None:
    soak = request.config.getoption("--soak")
    seconds = 60 * float(os.environ.get("LEASEQ_SOAK_MINUTES", "60")) if soak else SECONDS
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        run_leaseq_under_load(Path(folder)) as (server, address, pids),
    ):
        probes: dict[str, Callable[[], float]] = {
            f"web {number}": partial(resident_bytes, pid)
            for number, pid in enumerate(child_pids(pids["web"]))
        }
        redis_client = redis.Redis(unix_socket_path=str(server.socket))
        probes |= {
            "clear": partial(resident_bytes, pids["clear"]),
            "server": partial(_used_memory, redis_client),
        }
        load = Load(server.url, address, seed)
        try:
            load.begin(people=12, pause=0.2)
            with Sampler(probes, interval=seconds / 500 + 0.1) as sampler:
                load.failure.wait(seconds)
        finally:
            load.stop()
            redis_client.close()
    assert not load.errors
    assert not sampler.errors
    assert set(sampler.samples) == {"web 0", "web 1", "clear", "server"}
    trends = sampler.trends(warm_up=WARM_UP)
    if soak:
        with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            print(f"\n{load.calls:,} turns, {load.calls / seconds:.1f} a second")
            for name, line in trends.items():
                print(f"{name:8} {line}")
        growth = {name: line.hourly_growth * line.seconds / 3_600 for name, line in trends.items()}
        bound = GROWTH * max(seconds / 3_600, 1)
        assert max(growth.values()) <= bound, f"more than {bound:.1%}"


def _used_memory(server: redis.Redis) -> float:
    """Return the server's memory without what varies with the work: the journals, which grow up to their
    bound, and the items. Every entry of these keys is sampled: an estimate from a few is too low by a sixth.
    """
    kinds = ("journal", "items", "inbound", "finished")
    work_keys = (f"leaseq:{{{name}}}:{kind}" for name in QUEUES for kind in kinds)
    return float(
        server.info("memory")["used_memory"]
        - sum(server.memory_usage(key, samples=0) or 0 for key in work_keys)
    )
