"""Parts of an SVG chart over time: ticks, and lines in a plot of 100 by 100."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

SIZE = 100
_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick of an axis."""

    at: float  # 0 to 100, from the left or from the top
    label: str


@dataclass(frozen=True, slots=True)
class Line:
    """A series as the path of its line and of the area below it; with gaps for unknown values."""

    name: str
    path: str
    area: str


def scale_of(maximum: float, lines: int = 4) -> tuple[float, list[float]]:
    """The top of an axis from 0, and its ticks, which are round whole numbers."""
    rough_step = max(maximum, 1) / lines
    power = 10.0 ** math.floor(math.log10(rough_step))
    step = next(power * step for step in _STEPS if power * step >= rough_step * (1 - 1e-9))
    step = max(step, 1)
    count = math.ceil(max(maximum, 1) / step - 1e-9)
    return count * step, [n * step for n in range(count + 1)]


def line_of(name: str, values: Sequence[float | None], top: float) -> Line:
    """The line through the values, each in the middle of its part of the width."""
    width = SIZE / len(values)
    path, area, run = [], [], list[tuple[float, float]]()

    def end() -> None:
        if not run:
            return
        points = [f"{x:.4g} {y:.4g}" for x, y in run]
        if len(run) == 1:  # a single point would be invisible
            x, y = run[0]
            points = [f"{x - width / 2:.4g} {y:.4g}", f"{x + width / 2:.4g} {y:.4g}"]
        path.append("M" + "L".join(points))
        area.append(f"M{points[0].split()[0]} {SIZE}L" + "L".join(points) + f"V{SIZE}z")
        run.clear()

    for number, value in enumerate(values):
        if value is None:
            end()
        else:
            run.append((width * (number + 0.5), SIZE - SIZE * value / top))
    end()
    return Line(name, "".join(path), "".join(area))
