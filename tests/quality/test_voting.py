"""The answer of an item with several."""

from __future__ import annotations

import random
from collections.abc import Sequence
from operator import eq

import pytest

from leaseq.quality import dawid_skene, largest_group, majority


def near(a: float, b: float) -> bool:
    return abs(a - b) <= 1


@pytest.mark.parametrize(
    ("values", "group", "most"),
    [
        ([], (), None),
        (["a"], (0,), "a"),
        (["a", "b"], (0,), None),
        (["a", "b", "b"], (1, 2), "b"),
        (["b", "a", "a", "b"], (0, 3), None),
    ],
)
def test_largest_group_and_majority(values: list[str], group: tuple[int, ...], most: str | None) -> None:
    assert largest_group(values, eq) == group
    assert majority(values, eq) == most


def test_answer_in_the_middle_represents_those_within_its_tolerance() -> None:
    assert largest_group([1, 2, 3, 9], near) == (1, 0, 2)
    assert majority([1, 2, 3, 9], near) == 2


def crowd(seed: int, items: int, skills: Sequence[float]) -> tuple[list[str], list[dict[str, str]]]:
    """The true answers, and those of people who are right as often as their skill says, of three possible
    ones."""
    chance = random.Random(seed)
    truths = [chance.choice("abc") for _ in range(items)]
    answers = [
        {
            f"p{n}": truth if chance.random() < skill else chance.choice("abc".replace(truth, ""))
            for n, skill in enumerate(skills)
        }
        for truth in truths
    ]
    return truths, answers


@pytest.mark.parametrize("seed", range(3))
def test_reliable_people_count_more(seed: int) -> None:
    truths, answers = crowd(seed, 300, (0.95, 0.95, 0.4, 0.4, 0.4))
    votes = dawid_skene(answers)
    right = sum(vote is not None and vote.value == truth for vote, truth in zip(votes, truths, strict=True))
    most = [majority(list(item.values()), eq) for item in answers]
    by_majority = sum(map(eq, most, truths))
    assert right > 0.93 * 300
    assert right > by_majority + 20
    assert all(vote is None or 0 < vote.probability <= 1 for vote in votes)


def test_items_without_answers_have_no_vote() -> None:
    assert dawid_skene([]) == []
    assert dawid_skene([{}]) == [None]
    first, second = dawid_skene([{"ann": "a", "bob": "a"}, {}])
    assert first is not None
    assert (first.value, second) == ("a", None)
