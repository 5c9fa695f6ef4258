"""Helpers that read and save the sections of the settings."""

from __future__ import annotations

from typing import Any

import leaseq
from tests.web.conftest import Browser
from tests.web.elements import form_fields


def base(queue: leaseq.Queue, section: str = "work") -> str:
    return f"/manage/{queue.name}/settings" + ("" if section == "work" else f"/{section}")


def settings_fields(browser: Browser, queue: leaseq.Queue, section: str = "work") -> dict[str, str]:
    """The fields that the unchanged page would send."""
    return form_fields(browser.get(base(queue, section)).text, "settings")


def save(
    browser: Browser, queue: leaseq.Queue, fields: dict[str, str], section: str = "work", **changes: str
) -> Any:
    return browser.post(base(queue, section), {**fields, **changes})


def change(browser: Browser, queue: leaseq.Queue, section: str, **changes: str) -> Any:
    """Open a section and save it with these changes."""
    return save(browser, queue, settings_fields(browser, queue, section), section, **changes)
