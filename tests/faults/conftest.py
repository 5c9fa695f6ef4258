"""Every random choice comes from one seed, which the head of the run prints."""

from __future__ import annotations

import os
from collections.abc import Callable
from zlib import crc32

import pytest


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A seed for this test, derived from the seed of the run."""
    return crc32(f"{os.environ['LEASEQ_SEED']} {request.node.nodeid}".encode())


@pytest.fixture
def report_figure(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Return a function that adds a line to the figures at the end of the run."""
    return lambda line: record_property("figure", line)


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> int:
    """The number of faults in a test: a few in an ordinary run, 20 in a soak."""
    return 20 if request.config.getoption("--soak") else 3
