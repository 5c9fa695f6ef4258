"""Sparklines: a bar per minute, as one path of an SVG of 60 by 20."""

from __future__ import annotations

from collections.abc import Sequence

HEIGHT = 20
_MIN_HEIGHT = 1.0  # a bar above zero is visible


def spark(values: Sequence[int | None]) -> str:
    """The path of the bars; an unknown or zero value has no bar."""
    maximum = max((value or 0 for value in values), default=0)
    bars = []
    for number, value in enumerate(values):
        if value:
            height = max(HEIGHT * value / maximum, _MIN_HEIGHT)
            bars.append(f"M{number} {HEIGHT}v-{height:.3g}h.8V{HEIGHT}z")
    return "".join(bars)
