"""The titles of HTTP errors."""

from __future__ import annotations

import pytest

from leaseq.webapp.serving.problem import title_of


@pytest.mark.parametrize(
    ("status", "title"),
    [
        (404, "Not found"),
        (405, "Method not allowed"),
        (413, "Content too large"),
        (414, "URI too long"),
        (422, "Unprocessable content"),
        (503, "Service unavailable"),
    ],
)
def test_a_title_is_the_status_in_sentence_case_in_each_version_of_python(status: int, title: str) -> None:
    assert title_of(status) == title
