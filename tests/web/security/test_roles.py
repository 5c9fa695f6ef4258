"""Which routes each role opens, written down: a route that opens for somebody else is a change to be seen."""

from __future__ import annotations

from flask import Flask

from leaseq.webapp.security.authorization import OPEN_TO_ANYONE, need_of

BLUEPRINTS_OF_MANAGERS = ("manage", "metrics")
BLUEPRINTS_OF_ADMINS = ("people",)
FIGURES_OF_PEOPLE = ("people.everybody", "people.one")
"""Managers see here what people do on their queues: tests/web/people/test_managers.py."""


def test_pages_of_managers_and_admins_are_theirs(app: Flask) -> None:
    for endpoint in app.view_functions:
        blueprint = endpoint.partition(".")[0]
        if endpoint in OPEN_TO_ANYONE:
            assert blueprint not in (*BLUEPRINTS_OF_MANAGERS, *BLUEPRINTS_OF_ADMINS), endpoint
        elif endpoint in FIGURES_OF_PEOPLE:
            assert need_of(app, endpoint) == "manager", endpoint
        elif blueprint in BLUEPRINTS_OF_ADMINS:
            assert need_of(app, endpoint) == "admin", endpoint
        elif blueprint in BLUEPRINTS_OF_MANAGERS:
            assert need_of(app, endpoint) in ("manager", "admin"), endpoint
