"""The web app whose REST API agents use, and its user of the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from leaseq.webapp.store.accounts import Accounts
from tests.web.conftest import SECRET
from tests.web.gunicorn_server import serve_app


@pytest.fixture(scope="session")
def server(server_of_pages: Any) -> Any:
    """The server, as the web app's user."""
    return server_of_pages


@pytest.fixture(scope="package")  # later tests' queues must not be sampled by the app
def app_url(server: Any) -> Iterator[str]:
    with serve_app(server.url, SECRET) as url:
        yield url


@pytest.fixture
def make_token(server: Any) -> Callable[[str], str]:
    """Return a function that makes a token of scope ask, of a new manager with this name."""
    accounts = Accounts(server.client)

    def make(name: str) -> str:
        accounts.add(name, by="test", role="manager")
        return accounts.create_token(name, "mcp", by="test", scope="ask")

    return make
