"""The pages' examples use all of leaseq, so they run as the web app's user of the server."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.conftest import app  # noqa: F401


@pytest.fixture(scope="session")
def server(server_of_pages: Any) -> Any:
    """The server, as the web app's user."""
    return server_of_pages
