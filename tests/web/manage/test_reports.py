"""The page of all reports, notes and questions, and a manager's actions on each."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import pytest

import leaseq
from leaseq.webapp.manage import reports
from leaseq.webapp.store.threads import Threads
from tests.conftest import Clock
from tests.support.leases import fail, take
from tests.web.conftest import Browser
from tests.web.elements import elements, text_of, texts


@pytest.fixture
def base(queue: leaseq.Queue) -> str:
    queue.configure(max_attempts=2, retry_seconds=3600)
    return f"/manage/{queue.name}"


def give_back(queue: leaseq.Queue, id: str, note: str) -> None:
    queue.enqueue({"text": f"letter {id}"}, id=id)
    queue.abandon(take(queue, "bob"), note)


def visible_text(page: str) -> str:
    """The text of the page without what it hides."""
    return text_of(re.sub(r"<(form|span)[^>]* hidden>.*?</\1>", "", page, flags=re.DOTALL))


def quotes(page: str) -> list[str]:
    """The words of each row."""
    return texts(page, "td.words")


def listed_pages(browser: Browser, base: str) -> Iterator[list[str]]:
    """The entries of each page, from the first to the last."""
    path = f"{base}/reports"
    while path:
        page = browser.get(path).text
        yield quotes(page)
        link = re.search(r'href="([^"]+)">Older<', page)
        path = html.unescape(link[1]) if link else ""


def test_reports_are_listed_newest_first_and_counted_on_dashboard(
    manager_browser: Browser, queue: leaseq.Queue, base: str, threads: Threads
) -> None:
    give_back(queue, "note", "ask the shop")
    queue.assign("note", "zoe")
    fail(queue, "dead", "the scan is missing", times=2)
    threads.ask(queue.name, "note", "cyd", "is it ours?", message="1")
    fail(queue, "later", "no photo")
    page = manager_browser.get(f"{base}/reports").text
    assert quotes(page) == ["no photo", "is it ours?", "the scan is missing", "ask the shop"]
    assert "ann reported a problem" in text_of(page)
    assert "letter dead" in text_of(page)
    dashboard = manager_browser.get(base).text
    cards = [text_of(link) for link in elements(dashboard, f".problem .what > [href='{base}/reports']")]
    assert cards == ["1 question", "3 reports and notes"]
    queue.finish(take(queue, "zoe"), {})
    threads.settle(queue.name, "note")
    assert quotes(manager_browser.get(f"{base}/reports").text) == ["no photo", "the scan is missing"]


@pytest.mark.parametrize("dead_scan_limit", [250, 1])
def test_each_report_note_and_question_is_on_exactly_one_page(
    manager_browser: Browser,
    queue: leaseq.Queue,
    base: str,
    threads: Threads,
    monkeypatch: pytest.MonkeyPatch,
    dead_scan_limit: int,
) -> None:
    monkeypatch.setattr(reports, "DEAD_SCAN_LIMIT", dead_scan_limit)
    monkeypatch.setattr(reports, "PAGE", 6)
    messages = []
    for n in range(9):
        fail(queue, f"dead-{n}", f"dead {n}", times=2)
        give_back(queue, f"note-{n}", f"note {n}")
        queue.assign(f"note-{n}", "zoe")
        messages += [f"dead {n}", f"note {n}"]
        if n % 4 == 0:
            threads.ask(queue.name, f"note-{n}", "cyd", f"question {n}", message="1")
            messages.append(f"question {n}")
    fail(queue, "silent", "", times=2)
    pages = list(listed_pages(manager_browser, base))
    assert max(map(len, pages)) <= 6
    assert list(chain(*pages)) == messages[::-1]


def test_entries_of_same_microsecond_are_each_on_one_page(
    manager_browser: Browser,
    server: Any,
    queue: leaseq.Queue,
    base: str,
    threads: Threads,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reports, "PAGE", 6)
    clock = Clock()
    stopped_queue = leaseq.Queue(server.client, queue.name, clock=clock)
    monkeypatch.setattr(threads, "_clock", lambda: clock() / 1_000_000)
    messages = []
    for n in range(5):
        give_back(stopped_queue, f"note-{n}", f"note {n}")
        stopped_queue.assign(f"note-{n}", "zoe")
        fail(stopped_queue, f"dead-{n}", f"dead {n}", times=2)
        threads.ask(queue.name, f"note-{n}", "cyd", f"question {n}", message="1")
        messages += [f"note {n}", f"dead {n}", f"question {n}"]
    pages = list(islice(listed_pages(manager_browser, base), len(messages)))
    assert sorted(chain(*pages)) == sorted(messages)


def test_questions_of_same_microsecond_are_listed_despite_removed_items(
    manager_browser: Browser,
    queue: leaseq.Queue,
    base: str,
    threads: Threads,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reports, "PAGE", 6)
    clock = Clock()
    monkeypatch.setattr(threads, "_clock", lambda: clock() / 1_000_000)
    for n in range(8):
        if n == 5:
            clock.tick(1)
        queue.enqueue({}, id=f"{n}")
        threads.ask(queue.name, f"{n}", "cyd", f"question {n}", message="1")
    for id in ("3", "4"):
        queue.remove(id)
    pages = list(islice(listed_pages(manager_browser, base), 8))
    assert list(chain(*pages)) == [f"question {n}" for n in (7, 6, 5, 2, 1, 0)]


def test_invalid_reports_cursor_is_refused(manager_browser: Browser, base: str) -> None:
    assert "There are none." in text_of(manager_browser.get(f"{base}/reports").text)
    assert manager_browser.get(f"{base}/reports?before=x").status_code == 400
    assert manager_browser.get(f"{base}/reports?before=1&dead=x").status_code == 400


def test_revive_on_reports_page_returns_to_reports_page(
    manager_browser: Browser, queue: leaseq.Queue, base: str
) -> None:
    fail(queue, "a", "no", times=2)
    response = manager_browser.post(f"{base}/items/a/revive", {"back": "reports"})
    assert (response.status_code, response.location) == (303, f"{base}/reports")
    assert queue.get("a").state == "inbound"


def test_item_scheduled_for_retry_is_made_available_at_once(
    manager_browser: Browser, queue: leaseq.Queue, base: str
) -> None:
    fail(queue, "a", "no")
    assert queue.get("a").state == "scheduled"
    for page in ("items/a", "reports"):
        assert "Hand out now" in visible_text(manager_browser.get(f"{base}/{page}").text), "one name on both"
    manager_browser.post(f"{base}/items/a/revive", {"back": "reports"})
    assert queue.get("a").state == "inbound"
    assert "It is waiting again, now and not later." in text_of(manager_browser.get(f"{base}/reports").text)
    assert elements(manager_browser.get(f"{base}/reports").text, "[action$=revive]") == []


def test_remove_and_settle_return_to_reports_page(
    manager_browser: Browser, queue: leaseq.Queue, base: str, threads: Threads
) -> None:
    give_back(queue, "a", "no")
    threads.ask(queue.name, "a", "cyd", "why?", message="1")
    response = manager_browser.post(f"{base}/items/a/settle", {"back": "reports"})
    assert response.location == f"{base}/reports"
    assert quotes(manager_browser.get(f"{base}/reports").text) == ["no"]
    assert manager_browser.post(f"{base}/items/a/remove", {"back": "reports"}).location == f"{base}/reports"
    assert quotes(manager_browser.get(f"{base}/reports").text) == []
