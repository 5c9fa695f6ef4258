"""The import page's texts for rows that can't be read."""

from __future__ import annotations

from typing import Any

import pytest

from leaseq import Invalid
from leaseq.transfer import BadRow
from leaseq.webapp.manage.importing.mapping import bad_row_message

SEPARATOR, QUOTES = "Choose the column separator.", "Choose “Text” for double quotes."


@pytest.mark.parametrize(
    ("remedy", "advice"), [(None, None), ("encoding", None), ("quotes", QUOTES), ("delimiter", SEPARATOR)]
)
def test_bad_row_message_contains_applicable_advice(app: Any, remedy: Any, advice: str | None) -> None:
    with app.test_request_context():
        message = bad_row_message(BadRow(2, Invalid("row", "row", what="nul"), remedy=remedy))
    assert message.startswith("a NUL byte")
    assert [one for one in (SEPARATOR, QUOTES) if one in message] == ([advice] if advice else [])
