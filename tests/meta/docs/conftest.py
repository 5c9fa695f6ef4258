"""The pages' examples use all of leaseq: the web app's user of the server runs them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.conftest import app  # noqa: F401


@pytest.fixture(scope="session")
def server(server_of_pages: Any) -> Any:
    """The app's user of the server."""
    return server_of_pages
