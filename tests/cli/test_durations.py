"""How the commands print durations."""

from __future__ import annotations

import pytest

from leaseq.cli.stats import _duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"),
        (0, "0 s"),
        (89, "89 s"),
        (90, "2 min"),
        (5_399, "90 min"),
        (5_400, "1.5 h"),
        (90_000, "25.0 h"),
    ],
)
def test_duration_is_printed_in_suitable_unit(seconds: float | None, text: str) -> None:
    assert _duration(seconds) == text
