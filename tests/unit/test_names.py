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
def test_a_character_that_nobody_sees_is_found(name: str) -> None:
    assert find_invisible(name)


@pytest.mark.parametrize("name", INVISIBLE)
def test_the_library_takes_no_such_name(queue: leaseq.Queue, name: str) -> None:
    queue.configure()
    with pytest.raises(Invalid) as error:
        queue.reserve(name)
    assert error.value.field == "person"


@pytest.mark.parametrize("name", VISIBLE)
def test_names_of_all_scripts_are_taken(queue: leaseq.Queue, name: str) -> None:
    assert find_invisible(name) is None
    queue.enqueue({})
    lease = queue.reserve(name)
    assert lease
    assert lease.person == name
    queue.finish(lease, {})


def test_joiners_stay_where_a_script_or_an_emoji_needs_them() -> None:
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
def test_names_that_look_the_same(name: str, other: str) -> None:
    assert find_lookalike(name, ["zed", other]) == other
    assert find_lookalike(other, ["zed", name]) == name


@pytest.mark.parametrize(
    ("name", "other"), [("Ian", "Lan"), ("José", "Jose"), ("ann", "anna"), ("Иван", "Ivan"), ("ann", "ann")]
)
def test_names_that_do_not(name: str, other: str) -> None:
    assert find_lookalike(name, [other]) is None


def test_one_name_has_one_spelling() -> None:
    assert normalize(unicodedata.normalize("NFD", "Zoë")) == normalize("Zoë") == "Zoë"
