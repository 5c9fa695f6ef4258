"""A server's wall clock that a test can set to a wrong time."""

from __future__ import annotations

import struct
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from tests.faults.shim import preload


class Step(NamedTuple):
    """A step of the clock, made between these two times of the real clock."""

    before: float
    after: float
    seconds: float


class WrongClock:
    """The wall clock of the embedded servers that are started within ``attach()``."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "wrong-by"
        self._file.write_bytes(struct.pack("=q", 0))
        self.seconds = 0.0
        self.steps: list[Step] = []

    def attach(self) -> AbstractContextManager[None]:
        return preload("clock", {"SHIM_CLOCK": self._file})

    def step(self, seconds: float) -> None:
        """Let the clock jump by this many seconds."""
        self.seconds += seconds
        before = time.time()
        with self._file.open("r+b") as file:  # in place: the servers have it mapped
            file.write(struct.pack("=q", round(self.seconds * 1e6)))
        self.steps.append(Step(before, time.time(), seconds))
