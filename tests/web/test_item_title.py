"""The title of an item: its first words."""

from __future__ import annotations

from typing import Any

import pytest

from leaseq.webapp.item_title import item_title

LONG = "My parcel says delivered but nothing is here, and the photo shows another door."


@pytest.mark.parametrize(
    ("payload", "title"),
    [
        ({"text": "My parcel is not here", "order": 12}, "My parcel is not here"),
        ({"order": "40-1182", "text": "My  parcel\nis not here"}, "My parcel is not here"),
        ({"image": "https://example.org/a b.jpg", "name": "cat.jpg"}, "cat.jpg"),
        ({"text": LONG}, "My parcel says delivered but nothing is here, and the photo…"),
        ({"text": "x" * 80}, "x" * 60 + "…"),
        ("a text alone", "a text alone"),
        ("Is it **lost**, *really*, or `x`?", "Is it lost, really, or x?"),
        ("2*3*4 is 24, not ** 9", "2*3*4 is 24, not ** 9"),
        (["one", "two words"], "two words"),
        ({"n": 1, "list": ["a b"]}, "the-id"),
        ([{"role": "user", "content": "Where is it?"}], "Where is it?"),
        ({"n": 1, "messages": [{"from": "Ann", "text": "Where is it?"}]}, "Where is it?"),
        (
            {"messages": [{"role": "user", "content": [{"type": "text"}]}], "rows": [{"text": "a b"}]},
            "the-id",
        ),
        ({"text": "  "}, "the-id"),
        ({}, "the-id"),
        (None, "the-id"),
        (7, "the-id"),
    ],
)
def test_title_is_first_words_or_item_id(payload: Any, title: str) -> None:
    assert item_title(payload, "the-id") == title


def test_a_huge_payload_is_not_read_to_its_end() -> None:
    assert item_title({str(n): n for n in range(60)} | {"text": "far behind"}, "the-id") == "the-id"
    assert item_title("word " * 1_000_000, "the-id").startswith("word word")
