"""The note of an item that was given back is shown to the next person; reports only to managers."""

from __future__ import annotations

import re

import leaseq
from tests.support.leases import take as reserve
from tests.web.conftest import Browser
from tests.web.work_pages import path, take


def note(page: str) -> str | None:
    match = re.search(r'<h2 id="previous-note">(.*?)</h2><p[^>]*>(.*?)</p>', page)
    return f"{match[1]}: {match[2]}" if match else None


def test_the_next_person_reads_the_last_note(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    form_queue.abandon(reserve(form_queue, "ann"), "ask the shop")
    form_queue.abandon(reserve(form_queue, "bob"), "they <b>never</b> answer")
    form_queue.abandon(reserve(form_queue, "cyd"))
    assert take(form_queue, worker_browser).id == "one"
    page = worker_browser.get(path(form_queue)).text
    assert note(page) == "Note by bob: they &lt;b&gt;never&lt;/b&gt; answer"
    assert "ask the shop" not in page


def test_report_is_not_shown_to_next_person(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    form_queue.configure(retry_seconds=0)
    form_queue.fail(reserve(form_queue, "ann"), "the customer is my neighbour")
    assert take(form_queue, worker_browser).id == "one"
    page = worker_browser.get(path(form_queue)).text
    assert note(page) is None
    assert "neighbour" not in page


def test_note_is_not_shown_to_its_author(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    form_queue.remove("two")
    form_queue.abandon(reserve(form_queue, worker_browser.name), "I ask the shop")
    assert take(form_queue, worker_browser).id == "one"
    page = worker_browser.get(path(form_queue)).text
    assert note(page) is None
    assert "ask the shop" not in page


def test_item_without_earlier_lease_has_no_note(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    assert take(form_queue, worker_browser).id == "one"
    assert note(worker_browser.get(path(form_queue)).text) is None
