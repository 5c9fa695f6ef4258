"""Every random choice comes from one seed, which the head of the run prints."""

from __future__ import annotations

import os
from collections.abc import Callable
from zlib import crc32

import pytest


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A number of this test's own, made from the run's."""
    return crc32(f"{os.environ['LEASEQ_SEED']} {request.node.nodeid}".encode())


@pytest.fixture
def report_figure(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Takes a line for the end of the run, where its figures are listed."""
    return lambda line: record_property("figure", line)


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> int:
    """How often a fault comes: a few times in an ordinary run, 20 times in a soak."""
    return 20 if request.config.getoption("--soak") else 3
