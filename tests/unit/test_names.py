"""Invisible characters in a name, and names that look the same, are found."""

from __future__ import annotations

import unicodedata

import pytest

import leaseq
from leaseq import Invalid
from leaseq.names import find_invisible, find_lookalike, normalize

INVISIBLE = [
    "ann\u200b",  # zero-width space
    "\u200dann",  # a joiner that joins nothing
    "an\u200cn",
    "علی\u200c\u200cرضا",  # two joiners
    "ann\u2060",
    "ann\ufeff",
    "\u202enna",  # right-to-left override
    "ann\u2066",
    "ann\u00ad",  # soft hyphen
    "ann\ufe0f",  # a variation selector after a letter
    "\ufe0fann",
    "a+\ufe0f",
    "ann\U000e0100",
    "zoë\ufe0f",
    "ann\U000e0061",  # a tag
    "ann\u034f",
    "ann\u3164",  # a Hangul filler
    "ann\u115f",
    "ann\u2800",  # Braille without a dot
    "ann\U000e0fff",  # unassigned
    "ann\ue000",  # private use
]
VISIBLE = ["ann", "Zoë", "李雷", "葛\U000e0100城", "Ольга", "María José", "ann ❤\ufe0f", "محمد", "क्षमा"]


@pytest.mark.parametrize("name", INVISIBLE)
@pytest.mark.guard("blank-characters", "joiner-between", "joiner-cjk", "joiner-symbol")
def test_invisible_character_in_a_name_is_found(name: str) -> None:
    assert find_invisible(name)


@pytest.mark.parametrize("name", INVISIBLE)
@pytest.mark.guard("visible-person")
def test_reserve_by_a_name_with_an_invisible_character_is_refused(queue: leaseq.Queue, name: str) -> None:
    queue.configure()
    with pytest.raises(Invalid) as error:
        queue.reserve(name)
    assert error.value.field == "person"


@pytest.mark.parametrize("name", VISIBLE)
def test_names_in_all_scripts_are_accepted(queue: leaseq.Queue, name: str) -> None:
    assert find_invisible(name) is None
    queue.enqueue({})
    lease = queue.reserve(name)
    assert lease
    assert lease.person == name
    queue.finish(lease, {})


def test_joiner_required_by_a_script_or_emoji_is_accepted() -> None:
    assert find_invisible("علی\u200cرضا 👩\u200d🔧") is None


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Ann", "ANN"),
        ("Straße", "STRASSE"),
        ("аnn", "ann"),  # Cyrillic а
        ("ΑΝΝ", "ANN"),  # Greek
        ("ａｎｎ", "ann"),  # full width
        ("𝒶nn", "ann"),
        ("ann lee", "ann  lee"),
        ("Ian", "lan"),
        ("b0b", "bOb"),
        ("pau1", "paul"),
        ("ԛueue", "queue"),
        ("вова", "Вова"),
        ("o‘neil", "o'neil"),
        ("❤", "❤\ufe0f"),
    ],
)
def test_lookalike_name_is_found(name: str, other: str) -> None:
    assert find_lookalike(name, ["zed", other]) == other
    assert find_lookalike(other, ["zed", name]) == name


@pytest.mark.parametrize(
    ("name", "other"), [("Ian", "Lan"), ("José", "Jose"), ("ann", "anna"), ("Иван", "Ivan"), ("ann", "ann")]
)
def test_distinguishable_name_is_not_a_lookalike(name: str, other: str) -> None:
    assert find_lookalike(name, [other]) is None


def test_name_is_normalized_to_composed_characters() -> None:
    assert normalize(unicodedata.normalize("NFD", "Zoë")) == normalize("Zoë") == "Zoë"
