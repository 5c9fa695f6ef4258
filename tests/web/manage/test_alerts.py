"""The queue's alerts on the manager's pages, in words."""

from __future__ import annotations

import re
from typing import Any

import pytest

import leaseq
from leaseq.engine.keys import Keys
from leaseq.webapp.realtime import snapshot
from tests.web.conftest import Browser
from tests.web.elements import texts

SINCE = 1_795_255_200_000_000  # 2026-11-21 10:00 UTC, in microseconds
GERMAN = {"Accept-Language": "de"}


@pytest.fixture(autouse=True)
def _fresh_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read figures for each page, and not once a second."""
    monkeypatch.setattr(snapshot, "_READ_SECONDS", 0)


def raise_alerts(server: Any, queue: leaseq.Queue, *rules: str) -> None:
    """Store these alerts as raised, whether true or not."""
    lines = "".join(f"{rule} {SINCE} 9\n" for rule in rules)
    server.redis.hset(Keys(queue.name).ledger, "raised", lines)


def raised(page: str) -> list[str]:
    """The texts of the raised alerts."""
    return texts(page, "[data-rows=alerts] .what")


@pytest.mark.parametrize(
    ("rule", "english", "german"),
    [
        (
            "waiting>5000",
            "The number of waiting items is above 5,000.",
            "Die Zahl der wartenden Aufgaben liegt über 5.000.",
        ),
        (
            "oldest>5400",
            "An item has waited for more than 1 h 30 min.",
            "Eine Aufgabe wartet seit mehr als 1 h 30 min.",
        ),
        (
            "dead>600",
            "An item failed more than 10 min ago.",
            "Eine Aufgabe ist vor mehr als 10 min gescheitert.",
        ),
        (
            "idle>90",
            "Items have waited for more than 1 min 30 s, and nobody held one.",
            "Seit mehr als 1 min 30 s warten Aufgaben, und niemand hat eine in Arbeit.",
        ),
        (
            "bridge>60",
            "The SQL bridge is behind by more than 1 min.",
            "Die SQL-Brücke ist um mehr als 1 min im Rückstand.",
        ),
        (
            "webhooks>60",
            "The webhooks are behind by more than 1 min.",
            "Die Webhooks sind um mehr als 1 min im Rückstand.",
        ),
        ("tomorrow>7", "tomorrow>7", "tomorrow>7"),
    ],
)
def test_alert_is_described_in_english_and_german(
    manager_browser: Browser, form_queue: leaseq.Queue, server: Any, rule: str, english: str, german: str
) -> None:
    path = f"/manage/{form_queue.name}"
    assert raised(manager_browser.get(path).text) == []
    raise_alerts(server, form_queue, rule)
    assert raised(manager_browser.get(path).text) == [f"{english} since 2026-11-21 10:00:00 UTC"]
    alerts = manager_browser.get(f"/api/v1/queues/{form_queue.name}").json["alerts"]
    assert [f"{one['name']}>{one['limit']}" for one in alerts] == [rule]
    page = manager_browser.get(path, headers=GERMAN).text
    assert raised(page) == [f"{german} seit 2026-11-21 10:00:00 UTC"]


def test_overview_counts_alerts(manager_browser: Browser, form_queue: leaseq.Queue, server: Any) -> None:
    def line() -> tuple[bool, str]:
        row = re.search(
            rf'<tr data-queue="{re.escape(form_queue.name)}">(.*?)</tr>',
            manager_browser.get("/manage").text,
            re.DOTALL,
        )
        assert row
        match = re.search(r'<a class="alerts"[^>]*?( hidden)?>(.*?)</a>', row[1])
        assert match
        return bool(match[1]), re.sub(r"<[^>]+>", "", match[2])

    assert line()[0]
    raise_alerts(server, form_queue, "waiting>5", "idle>60")
    assert line() == (False, "2 alerts")
    figures = manager_browser.get("/manage", headers={"Accept": "application/json"}).json
    assert [one["key"] for one in figures["queues"][form_queue.name]["alerts"]] == ["waiting>5", "idle>60"]
