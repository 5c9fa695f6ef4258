"""What the tests of the manager's pages share."""

from __future__ import annotations

import pytest

import leaseq


@pytest.fixture
def base(queue: leaseq.Queue) -> str:
    queue.configure()
    return f"/manage/{queue.name}/import"
