"""Measures the memory of processes and a server during work, and its growth."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, linear_regression


@dataclass(frozen=True)
class Trend:
    """A straight line through the samples, by least squares."""

    mean: float
    hourly_growth: float  # growth in an hour, as a share of the mean
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.mean / 2**20:7.1f} MiB, {self.hourly_growth:+.2%} an hour "
            f"over {self.seconds / 60:.1f} min"
        )


def trend(samples: list[tuple[float, float]]) -> Trend:
    """Return the trend of samples (seconds, bytes)."""
    times, sizes = zip(*samples, strict=True)
    mean = fmean(sizes)
    return Trend(mean, linear_regression(times, sizes).slope * 3_600 / mean, times[-1] - times[0])


def resident_bytes(pid: int) -> float:
    """Return the resident memory of a process in bytes (Linux)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return float(line.split()[1]) * 1024
    raise ProcessLookupError(pid)


def child_pids(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class Sampler:
    """Calls each of its probes repeatedly, in a thread."""

    def __init__(self, probes: Mapping[str, Callable[[], float]], *, interval: float) -> None:
        self._probes, self._interval = probes, interval
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.samples: dict[str, list[tuple[float, float]]] = {name: [] for name in probes}
        self.errors: list[Exception] = []

    def __enter__(self) -> Sampler:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._interval):
            for name, probe in self._probes.items():
                try:
                    self.samples[name].append((time.monotonic(), probe()))
                except Exception as error:  # noqa: BLE001 - the test tells
                    self.errors.append(error)
                    return

    def trends(self, *, warm_up: float) -> dict[str, Trend]:
        """Return the trend of each probe, without the samples of this first share of the time."""
        trends = {}
        for name, samples in self.samples.items():
            since = samples[0][0] + warm_up * (samples[-1][0] - samples[0][0])
            trends[name] = trend([sample for sample in samples if sample[0] >= since])
        return trends
