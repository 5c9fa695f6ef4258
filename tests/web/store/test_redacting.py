"""The log after an erasure: a random name replaces the person's, and nobody else's."""

from __future__ import annotations

import pytest

from leaseq.webapp.store.accounts.traces import redacted


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("3 → ann", "3 → X"),
        ("work: people ann, bob; manage: people ann", "work: people X, bob; manage: people X"),
        ("ann's: ask ann. (ann)", "X's: ask X. (X)"),
        ("ann-marie, joann, ann.lee, lee.ann, ann@b.example, b@ann.example", None),
    ],
)
def test_a_name_that_stands_by_itself_is_replaced(text: str, after: str | None) -> None:
    assert redacted(text, "ann", "X") == (after or text)


def test_no_name_is_found_again_in_what_takes_its_place() -> None:
    """The log is processed until it no longer contains the name."""
    after = redacted("3 → erased", "erased", "erased-12ab34cd56ef")
    assert after == "3 → erased-12ab34cd56ef"
    assert redacted(after, "erased", "Y") == after
