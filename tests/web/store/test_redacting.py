"""Redacting the log after an erasure: the pseudonym replaces the name of the person only."""

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
def test_name_is_replaced_only_as_whole_word(text: str, after: str | None) -> None:
    assert redacted(text, "ann", "X") == (after or text)


def test_name_within_its_replacement_is_not_replaced() -> None:
    """The log is redacted until no entry contains the name, which would otherwise never end."""
    after = redacted("3 → erased", "erased", "erased-12ab34cd56ef")
    assert after == "3 → erased-12ab34cd56ef"
    assert redacted(after, "erased", "Y") == after
