"""What is upgraded is the accounts too: the web app's user of the server looks."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="session")
def server(server_of_pages: Any) -> Any:
    """The app's user of the server."""
    return server_of_pages
