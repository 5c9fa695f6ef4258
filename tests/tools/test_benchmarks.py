"""``./dev bench`` runs; its figures are meaningful only on an idle machine."""

from __future__ import annotations

import os

import pytest

from benchmarks.engine import Figure, comparison
from benchmarks.engine.__main__ import _print


def _cores() -> set[int]:
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()


def test_comparison_with_floor_yields_ratios(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a separate process, so that the CPU affinity of this one doesn't change."""
    monkeypatch.setattr(comparison, "_ROUNDS", 1)
    before = _cores()
    messages: list[str] = []
    figures = comparison.figures(True, messages.append)
    assert [figure.unit for figure in figures] == ["x", "x", "x", "x"]
    assert all(figure.value > 0 for figure in figures)
    assert messages == ["against the floor, 1 of 1"]
    assert _cores() == before


def test_ratio_is_printed_with_both_measurements(capsys: pytest.CaptureFixture[str]) -> None:
    ratio = Figure("server time", 5.28, "x", 5.957, 3.404, detail="75.6 µs to 13.9 µs")
    plain = Figure("enqueue_many", 1_000, "items/s", 60_000, 120_000, True)
    assert [figure.reached for figure in (ratio, plain)] == [True, False]
    _print([ratio, plain], markdown=True)
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| server time | 5.28 x (75.6 µs to 13.9 µs) | ≤ 5.96 x | ≤ 3.40 x |",
        "| enqueue_many | 1,000 items/s | ≥ 60,000 items/s | ≥ 120,000 items/s |",
    ]
    _print([ratio, plain], markdown=False)
    assert capsys.readouterr().out.splitlines() == [
        "figure        measured                     limit             aim",
        "server time   5.28 x (75.6 µs to 13.9 µs)  ≤ 5.96 x          ≤ 3.40 x",
        "enqueue_many  1,000 items/s                ≥ 60,000 items/s  ≥ 120,000 items/s",
    ]
