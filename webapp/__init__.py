"""The web app: accounts, pages and REST, on the public names of ``leaseq`` only.

``create_app`` imports ``leaseq.webapp.app`` when it is called, so that commands that only need accounts don't
load Flask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask_openapi.openapi import OpenAPI

    from leaseq.webapp.settings import Settings
    from leaseq.webapp.store.accounts import Passwords

__all__ = ["create_app"]


def create_app(settings: Settings | None = None, *, passwords: Passwords | None = None) -> OpenAPI:
    """Create the app. Settings come from the environment unless given; ``passwords`` sets the cost of
    hashes."""
    from leaseq.webapp.app import make_app  # noqa: PLC0415  # see above

    return make_app(settings, passwords)
