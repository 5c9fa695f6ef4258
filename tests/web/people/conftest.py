"""An admin, and people of a team."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

from leaseq.webapp.context import EXTENSION, State
from leaseq.webapp.store.accounts import Accounts
from tests.web.conftest import Browser


@pytest.fixture
def root(visitor: Callable[[str], Browser]) -> Browser:
    return visitor("admin")


@pytest.fixture
def state(app: Flask) -> State:
    found: State = app.extensions[EXTENSION]
    return found


@pytest.fixture
def team(accounts: Accounts, new_name: Callable[[str], str]) -> list[str]:
    """Three people of a team that no other test has, by name."""
    of = new_name("team")
    return [accounts.add(f"{of} {name}", by="test", team=of).name for name in ("ann", "bob", "eva")]
