"""An admin, and people of a team."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

from leaseq.webapp.context import EXTENSION, State
from leaseq.webapp.store.accounts import Accounts
from tests.web.conftest import Browser


@pytest.fixture
def admin_browser(sign_in_as: Callable[[str], Browser]) -> Browser:
    return sign_in_as("admin")


@pytest.fixture
def state(app: Flask) -> State:
    app_state: State = app.extensions[EXTENSION]
    return app_state


@pytest.fixture
def team(accounts: Accounts, new_name: Callable[[str], str]) -> list[str]:
    """Three people of a team that no other test has, by name."""
    team_name = new_name("team")
    return [
        accounts.add(f"{team_name} {name}", by="test", team=team_name).name for name in ("ann", "bob", "eva")
    ]
