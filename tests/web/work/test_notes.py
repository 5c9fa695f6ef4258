"""The next person reads what was said when the item was given back, and nobody but managers a report."""

from __future__ import annotations

import re

import leaseq
from tests.support.taking import take as reserve
from tests.web.conftest import Browser
from tests.web.work_pages import path, take


def note(page: str) -> str | None:
    match = re.search(r'<h2 id="before">(.*?)</h2><p[^>]*>(.*?)</p>', page)
    return f"{match[1]}: {match[2]}" if match else None


def test_the_next_person_reads_the_last_note(asking: leaseq.Queue, person: Browser) -> None:
    asking.abandon(reserve(asking, "ann"), "ask the shop")
    asking.abandon(reserve(asking, "bob"), "they <b>never</b> answer")
    asking.abandon(reserve(asking, "cyd"))
    assert take(asking, person).id == "one"
    page = person.get(path(asking)).text
    assert note(page) == "Note by bob: they &lt;b&gt;never&lt;/b&gt; answer"
    assert "ask the shop" not in page


def test_a_report_is_for_managers(asking: leaseq.Queue, person: Browser) -> None:
    asking.configure(retry_seconds=0)
    asking.fail(reserve(asking, "ann"), "the customer is my neighbour")
    assert take(asking, person).id == "one"
    page = person.get(path(asking)).text
    assert note(page) is None
    assert "neighbour" not in page


def test_their_own_note_is_not_told_to_them(asking: leaseq.Queue, person: Browser) -> None:
    asking.remove("two")
    asking.abandon(reserve(asking, person.name), "I ask the shop")
    assert take(asking, person).id == "one"
    page = person.get(path(asking)).text
    assert note(page) is None
    assert "ask the shop" not in page


def test_where_nobody_had_the_item_before_there_is_none(asking: leaseq.Queue, person: Browser) -> None:
    assert take(asking, person).id == "one"
    assert note(person.get(path(asking)).text) is None
