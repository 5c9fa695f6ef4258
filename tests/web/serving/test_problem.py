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
def test_title_of_status_is_same_in_each_python_version(status: int, title: str) -> None:
    assert title_of(status) == title
