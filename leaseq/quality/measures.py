"""How much the answers of several people agree, beyond what chance gives: Krippendorff's alpha, Gwet's AC1,
Cohen's and Fleiss' kappa.

Sources: K. Krippendorff, *Computing Krippendorff's Alpha-Reliability*, 2011; K. L. Gwet, *Computing
inter-rater reliability and its variance in the presence of high agreement*, 2008; J. Cohen, *A coefficient
of agreement for nominal scales*, 1960; J. L. Fleiss, *Measuring nominal scale agreement among many raters*,
1971.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import inf
from typing import Any, Literal, TypeAlias

from leaseq import validation
from leaseq.errors import Invalid

Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
"""What the difference of two answers means: only whether they are equal; also which is more; also how much
more."""
Undefined: TypeAlias = Literal["too-few", "one-value", "unequal-counts"]
"""Why there is no figure: no item has two answers; all answers are equal, so chance would give the same;
the items have different numbers of answers, or not two each."""
_Counts: TypeAlias = Sequence[Counter[Any]]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How much answers agree. 1: wholly; 0: as by chance; below 0: less than by chance. Each figure is None
    where it is undefined, and ``undefined`` has the reason."""

    percent: float | None  # the share of equal pairs of an item's answers, 0 to 1: not against chance
    alpha: float | None  # Krippendorff's alpha, at the level asked for
    ac1: float | None  # Gwet's AC1; close to `percent` where one answer is much more frequent than the others
    n: int  # items with at least two answers: only these count
    cohen: float | None = (
        None  # Cohen's kappa, if each item has two answers: of two people, in the same order
    )
    fleiss: float | None = None  # Fleiss' kappa, if all these items have as many answers
    undefined: Mapping[str, Undefined] = field(default_factory=dict)  # the reason, by the figure's name


def agreement(values: Sequence[Sequence[Any]], level: Level = "nominal") -> Agreement:
    """How much the answers to one question agree. ``values``: for each item, its answers; lists count as
    equal if their items are. Levels other than nominal need numbers. Raises Invalid (fields ``values``,
    ``level``)."""
    if level not in ("nominal", "ordinal", "interval"):
        raise Invalid("level", "one_of", choices=("nominal", "ordinal", "interval"), value=level)
    rows = [[_hashable(value, level) for value in row] for row in values]
    counts = [Counter(row) for row in rows if len(row) > 1]
    if not counts:
        names = ("percent", "alpha", "ac1", "cohen", "fleiss")
        return Agreement(None, None, None, 0, undefined=dict.fromkeys(names, "too-few"))
    figures: dict[str, float | Undefined] = {
        "percent": _observed(counts),
        "alpha": _alpha(counts, level),
        "ac1": _ac1(counts, [Counter(row) for row in rows if row]),
        "cohen": _cohen([row for row in rows if row]),
        "fleiss": _fleiss(counts),
    }
    found = {name: value for name, value in figures.items() if not isinstance(value, str)}
    undefined = {name: value for name, value in figures.items() if isinstance(value, str)}
    return Agreement(
        found.get("percent"),
        found.get("alpha"),
        found.get("ac1"),
        len(counts),
        found.get("cohen"),
        found.get("fleiss"),
        undefined,
    )


def _hashable(value: Any, level: Level) -> Hashable:
    if level != "nominal":
        validation.number(value, "values", -inf, inf)
    if isinstance(value, list | tuple):
        return tuple(_hashable(item, level) for item in value)
    if isinstance(value, Mapping):
        return tuple(sorted((name, _hashable(item, level)) for name, item in value.items()))
    return (bool, value) if isinstance(value, bool) else value


def _observed(counts: _Counts) -> float:
    """The mean share of equal pairs of an item's answers."""
    return sum(_equal_pairs(row) / _pairs(row) for row in counts) / len(counts)


def _pairs(row: Counter[Any]) -> int:
    size = row.total()
    return size * (size - 1)


def _equal_pairs(row: Counter[Any]) -> int:
    return sum(count * (count - 1) for count in row.values())


def _alpha(counts: _Counts, level: Level) -> float | Undefined:
    """1 - Do / De, from the coincidences of values within items."""
    totals: Counter[Any] = sum(counts, Counter())
    if len(totals) == 1:
        return "one-value"
    distance = _distances(totals, level)
    observed = 0.0
    for row in counts:
        pairs = ((a, b) for a in row for b in row if a != b)
        observed += sum(row[a] * row[b] * distance(a, b) for a, b in pairs) / (row.total() - 1)
    expected = sum(totals[a] * totals[b] * distance(a, b) for a in totals for b in totals if a != b)
    return 1 - (totals.total() - 1) * observed / expected


def _distances(totals: Counter[Any], level: Level) -> Callable[[Any, Any], float]:
    """The squared difference of two values."""
    if level == "nominal":
        return lambda _a, _b: 1
    if level == "interval":
        return lambda a, b: float((a - b) ** 2)
    ordered = sorted(totals)
    sums = dict(zip(ordered, accumulate(totals[value] for value in ordered), strict=True))
    middles = {value: sums[value] - totals[value] / 2 for value in ordered}
    return lambda a, b: float((middles[a] - middles[b]) ** 2)


def _ac1(counts: _Counts, all_counts: _Counts) -> float | Undefined:
    values = {value for row in all_counts for value in row}
    if len(values) == 1:
        return "one-value"
    shares = [sum(row[value] / row.total() for row in all_counts) / len(all_counts) for value in values]
    by_chance = sum(share * (1 - share) for share in shares) / (len(values) - 1)
    return (_observed(counts) - by_chance) / (1 - by_chance)


def _cohen(rows: Sequence[Sequence[Hashable]]) -> float | Undefined:
    if any(len(row) != 2 for row in rows):
        return "unequal-counts"
    first, second = Counter(row[0] for row in rows), Counter(row[1] for row in rows)
    by_chance = sum(first[value] * second[value] for value in first) / len(rows) ** 2
    if by_chance == 1:
        return "one-value"
    return (sum(a == b for a, b in rows) / len(rows) - by_chance) / (1 - by_chance)


def _fleiss(counts: _Counts) -> float | Undefined:
    if len({row.total() for row in counts}) > 1:
        return "unequal-counts"
    totals: Counter[Any] = sum(counts, Counter())
    by_chance = sum((count / totals.total()) ** 2 for count in totals.values())
    if len(totals) == 1:
        return "one-value"
    return (_observed(counts) - by_chance) / (1 - by_chance)
