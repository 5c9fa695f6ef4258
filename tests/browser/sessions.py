"""Sessions in the browser, without the sign-in page, which takes longer than most tests; test_live.py fills
that in."""

from __future__ import annotations

from flask import Flask
from playwright.sync_api import Page

from tests.support.sessions import start_session

_apps: list[tuple[Flask, str]] = []


def add_app(app: Flask, address: str) -> None:
    """From now on, start sessions for the app at this address. ``app``: with the same server and key."""
    _apps.append((app, address))


def sign_in(tab: Page, person: str) -> None:
    app, address = _apps[-1]
    cookies, _ = start_session(app, app.extensions["leaseq"].accounts.get(person))
    tab.context.add_cookies(
        [{"name": name, "value": value, "url": address} for name, value in cookies.items()]
    )
