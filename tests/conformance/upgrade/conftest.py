"""Accounts are upgraded as well, so these tests use the web app's user of the server."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="session")
def server(server_of_pages: Any) -> Any:
    """The server, with the web app's user."""
    return server_of_pages
