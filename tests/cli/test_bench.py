"""The bench runs; what it measures is for a machine at rest."""

from __future__ import annotations

import os

import pytest

from leaseq.bench import against


def _cores() -> set[int]:
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()


def test_a_round_against_the_floor_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process of its own, which leaves this one's cores as they are."""
    monkeypatch.setattr(against, "_ROUNDS", 1)
    before = _cores()
    told: list[str] = []
    found = against.figures(True, told.append)
    assert [one.unit for one in found] == ["x", "x", "µs", "µs"]
    assert all(one.value > 0 for one in found)
    assert told == ["against the floor, 1 of 1"]
    assert _cores() == before
