"""The answer of an item with several: by equal ones, by the majority, or by how reliable each person is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import TypeVar

Value = TypeVar("Value")
_ROUNDS = 100
_CONVERGED = 1e-6
_PRIOR = 0.01  # added to each count, so that no answer is impossible


@dataclass(frozen=True, slots=True)
class Vote:
    """What an item's answer most likely is."""

    value: Hashable
    probability: float  # 0 to 1


def largest_group(values: Sequence[Value], same: Callable[[Value, Value], bool]) -> tuple[int, ...]:
    """The places of the answers that are the same as one of them, for the one with which most are: it is
    first. Of several such groups, the one whose first answer came first. Empty without answers."""
    groups = [
        (place, *(other for other in range(len(values)) if other != place and same(value, values[other])))
        for place, value in enumerate(values)
    ]
    return max(groups, key=len, default=())


def majority(values: Sequence[Value], same: Callable[[Value, Value], bool]) -> Value | None:
    """The answer with which more than half of the answers are the same; None without one."""
    group = largest_group(values, same)
    return values[group[0]] if 2 * len(group) > len(values) else None


def dawid_skene(answers: Sequence[Mapping[str, Hashable]]) -> list[Vote | None]:
    """The most likely answer of each item, where people differ in what they get wrong. ``answers``: for
    each item, the answer of each person, which must be hashable, such as a choice. None for an item without
    answers.

    It estimates by turns how often each person gives each answer to items of each kind, and of which kind
    each item is (EM; A. P. Dawid and A. M. Skene, *Maximum likelihood estimation of observer error-rates*,
    1979).
    """
    kinds = list(dict.fromkeys(value for item in answers for value in item.values()))
    beliefs = [_shares(Counter(item.values()), kinds) for item in answers]
    for _ in range(_ROUNDS):
        new_beliefs = _estimate(answers, beliefs, kinds)
        moved = max(
            (
                abs(a - b)
                for old, new in zip(beliefs, new_beliefs, strict=True)
                for a, b in zip(old, new, strict=True)
            ),
            default=0,
        )
        beliefs = new_beliefs
        if moved < _CONVERGED:
            break
    return [
        Vote(kinds[belief.index(max(belief))], max(belief)) if item else None
        for item, belief in zip(answers, beliefs, strict=True)
    ]


def _shares(counts: Counter[Hashable], kinds: Sequence[Hashable]) -> list[float]:
    return [counts[kind] / counts.total() if counts else 1 / len(kinds) for kind in kinds]


def _estimate(
    answers: Sequence[Mapping[str, Hashable]], beliefs: Sequence[Sequence[float]], kinds: Sequence[Hashable]
) -> list[list[float]]:
    """One round: each person's errors from what the items are taken for, then what they are taken for from
    these."""
    given: defaultdict[str, dict[tuple[int, Hashable], float]] = defaultdict(lambda: defaultdict(float))
    for item, belief in zip(answers, beliefs, strict=True):
        for person, value in item.items():
            for kind, weight in enumerate(belief):
                given[person][kind, value] += weight
    logs = {person: _log_shares(counts, kinds) for person, counts in given.items()}
    frequent = [sum(belief[kind] for belief in beliefs) + _PRIOR for kind in range(len(kinds))]
    new_beliefs = []
    for item in answers:
        scores = [
            log(frequent[kind] / sum(frequent))
            + sum(logs[person][kind, value] for person, value in item.items())
            for kind in range(len(kinds))
        ]
        weights = [exp(score - max(scores)) for score in scores]
        new_beliefs.append([weight / sum(weights) for weight in weights])
    return new_beliefs


def _log_shares(
    counts: Mapping[tuple[int, Hashable], float], kinds: Sequence[Hashable]
) -> dict[tuple[int, Hashable], float]:
    """How likely a person gives each answer to an item of each kind, as logarithms."""
    logs: dict[tuple[int, Hashable], float] = {}
    for kind in range(len(kinds)):
        total = sum(counts[kind, value] + _PRIOR for value in kinds)
        for value in kinds:
            logs[kind, value] = log((counts[kind, value] + _PRIOR) / total)
    return logs
