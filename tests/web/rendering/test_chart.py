"""Axes and lines of charts."""

from __future__ import annotations

import pytest

from leaseq.webapp.manage.charts import line_of, scale_of


@pytest.mark.parametrize(
    ("highest", "ticks"),
    [
        (0, [0, 1]),
        (1, [0, 1]),
        (3, [0, 1, 2, 3]),
        (4, [0, 1, 2, 3, 4]),
        (5, [0, 2, 4, 6]),
        (10, [0, 2.5, 5, 7.5, 10]),
        (17, [0, 5, 10, 15, 20]),
        (99, [0, 25, 50, 75, 100]),
        (101, [0, 50, 100, 150]),
        (1_234_567, [0, 500_000, 1_000_000, 1_500_000]),
    ],
)
def test_ticks_are_round_numbers_and_cover_highest_value(highest: float, ticks: list[float]) -> None:
    assert scale_of(highest) == (ticks[-1], ticks)


def test_line_points_are_centred_in_their_intervals() -> None:
    line = line_of("In", [0, 5, 10, 10], 10)
    assert line.path == "M12.5 100L37.5 50L62.5 0L87.5 0"
    assert line.area == "M12.5 100L12.5 100L37.5 50L62.5 0L87.5 0V100z"


def test_unknown_values_are_gaps_and_single_value_is_short_line() -> None:
    assert line_of("In", [None, 5, None, 10, 10], 10).path == "M20 50L40 50M70 0L90 0"
    assert line_of("In", [None, None], 10).path == ""
