"""A number from a browser is accepted only in plain digits."""

from __future__ import annotations

import pytest

from leaseq.webapp.serving.bodies import whole_number


@pytest.mark.parametrize("text", [None, "", " 1", "x", "-1", "+1", "1.0", "1e3", "1_000", "²", "٣", "1" * 17])
def test_text_other_than_plain_digits_is_refused(text: str | None) -> None:
    assert whole_number(text) is None


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("9" * 16, 10**16 - 1)])
def test_plain_digits_are_parsed(text: str, number: int) -> None:
    assert whole_number(text) == number
