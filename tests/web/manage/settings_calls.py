"""Helpers that read and save the settings page."""

from __future__ import annotations

from typing import Any

import leaseq
from tests.web.conftest import Browser
from tests.web.elements import form_fields


def base(queue: leaseq.Queue) -> str:
    return f"/manage/{queue.name}/settings"


def settings_fields(browser: Browser, queue: leaseq.Queue) -> dict[str, str]:
    """The fields that the unchanged page would send."""
    return form_fields(browser.get(base(queue)).text, "settings")


def save(browser: Browser, queue: leaseq.Queue, fields: dict[str, str], **changes: str) -> Any:
    return browser.post(base(queue), {**fields, **changes})
