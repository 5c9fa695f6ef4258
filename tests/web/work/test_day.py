"""*My day*: the items that a person finished, holds and gave back."""

from __future__ import annotations

import re
import time
from datetime import date
from typing import Any

from flask import Flask

import leaseq
from leaseq.webapp.store.activity import Activity, DayFigures
from leaseq.webapp.work.day import _bars
from tests.web.conftest import Browser


def main_text(page: str) -> str:
    """The text of the page's main part."""
    return " ".join(re.sub(r"<[^>]+>", " ", page.partition("<main")[2]).split())


def test_day_without_activity_shows_zero_done(worker_browser: Browser) -> None:
    text = main_text(worker_browser.get("/day").text)
    assert "0 done today The last" in text
    assert "Nothing yet." in text
    assert "You hold" not in text


def test_activity_is_listed_by_queue_and_by_day(
    form_queue: leaseq.Queue, server: Any, worker_browser: Browser
) -> None:
    yesterday = Activity(server.client, clock=lambda: time.time() - 86_400)
    for token in range(3):
        yesterday.record(
            worker_browser.name, form_queue.name, "finished", id="x", token=token, active_ms=30_000
        )
    yesterday.flush()
    today = Activity(server.client)
    today.record(
        worker_browser.name, form_queue.name, "finished", id="y", token=7, active_ms=41_000, held_ms=90_000
    )
    today.record(worker_browser.name, form_queue.name, "abandoned", id="z", token=8, active_ms=4_000)
    today.record(worker_browser.name, "a-queue-that-is-gone", "failed", id="z", token=9)
    today.flush()

    text = main_text(worker_browser.get("/day").text)
    assert "1 done today · 41 s each · 45 s at work" in text
    assert "Triage 1 45 s 41 s 1 min 30 s 1 0" in text
    assert "a-queue-that-is-gone 0 – – – 0 1" in text
    assert re.search(r"\w+, \w+ \d+ 3 1 min 30 s 30 s – 0 0", text), text


def test_held_leases_link_to_their_items(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    lease = form_queue.reserve(worker_browser.name)
    assert lease is not None
    page = worker_browser.get("/day").text
    assert f'href="/q/{form_queue.name}?item={lease.id}"' in page
    assert "You hold Triage · My parcel is not here until" in main_text(page)


def test_recent_finish_can_be_undone_on_day_page(
    form_queue: leaseq.Queue, server: Any, worker_browser: Browser
) -> None:
    days = Activity(server.client, clock=lambda: time.time() - 60)
    days.record(worker_browser.name, form_queue.name, "finished", id="old", token=1)
    days.flush()
    lease = form_queue.reserve(worker_browser.name)
    assert lease is not None
    fields = {"answer.about": "refund", "answer.urgent": "true", "token": lease.token, "then": "stop"}
    assert worker_browser.post(f"/q/{form_queue.name}/items/{lease.id}/finish", fields).status_code == 303

    page = worker_browser.get("/day").text
    assert "1 done today" in main_text(page) or "2 done today" in main_text(page)
    assert "· Triage · My parcel is not here" in main_text(page), "not its id"
    assert page.count(">Undo</button>") == 1
    undo_path = f"/q/{form_queue.name}/items/{lease.id}/undo"
    assert f'action="{undo_path}"' in page
    assert worker_browser.post(undo_path, {"token": lease.token}).status_code == 303
    assert [one.id for one in form_queue.mine(worker_browser.name)] == [lease.id]
    assert Activity(server.client).today(worker_browser.name, form_queue.name).finished <= 1
    assert ">Undo</button>" not in worker_browser.get("/day").text


def test_numbers_are_formatted_in_page_language(queue: leaseq.Queue, worker_browser: Browser) -> None:
    queue.configure(title="Triage")
    queue.enqueue_many(range(1_204))
    assert "1,204 waiting." in main_text(worker_browser.get(f"/q/{queue.name}").text)
    german = main_text(worker_browser.get(f"/q/{queue.name}", headers={"Accept-Language": "de"}).text)
    assert "1.204" in german


def test_bar_heights_are_proportional_to_daily_counts(app: Flask) -> None:
    """An undone finish of the day before makes a day's count negative."""
    counts = (3, -1, 4, 0)
    days = {date(2026, 11, 22 - n): DayFigures(finished=count) for n, count in enumerate(counts)}
    with app.test_request_context():
        bars = _bars(days)
    assert [(bar.short, bar.height) for bar in bars] == [("19", 0), ("20", 100), ("21", 0), ("22", 75)]
