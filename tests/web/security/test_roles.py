"""The routes that each role may call, as a list: a change of access must be visible in a diff."""

from __future__ import annotations

import pytest
from flask import Flask

from leaseq.webapp.security.authorization import OPEN_TO_ANYONE, need_of

BLUEPRINTS_OF_MANAGERS = ("manage",)
BLUEPRINTS_OF_ADMINS = ("people",)
FIGURES = ("people.index", "people.detail", "people.figures", "people.figures_file", "monitoring.metrics")
"""Figures for managers: of the work on their queues (tests/web/people/test_manager_view.py), and of all."""


@pytest.mark.guard("manager-of-queues")
def test_manager_and_admin_pages_require_their_role(app: Flask) -> None:
    for endpoint in app.view_functions:
        blueprint = endpoint.partition(".")[0]
        if endpoint in OPEN_TO_ANYONE:
            assert blueprint not in (*BLUEPRINTS_OF_MANAGERS, *BLUEPRINTS_OF_ADMINS), endpoint
        elif endpoint in FIGURES:
            assert need_of(app, endpoint) == "manager", endpoint
        elif blueprint in BLUEPRINTS_OF_ADMINS:
            assert need_of(app, endpoint) == "admin", endpoint
        elif blueprint in BLUEPRINTS_OF_MANAGERS:
            assert need_of(app, endpoint) in ("manager", "admin"), endpoint
