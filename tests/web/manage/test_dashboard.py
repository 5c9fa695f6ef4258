"""A queue's page: its panels, and the answers to the first question."""

from __future__ import annotations

import re

import pytest

import leaseq
from tests.conftest import Clock
from tests.support.leases import not_none
from tests.web.conftest import Browser
from tests.web.elements import attribute, attributes, elements, table_rows, texts

FORM = {
    "ask": {
        "type": "object",
        "properties": {
            "note": {"type": "string"},
            "about": {"title": "What is it about?", "enum": ["refund", "parcel"]},
        },
    }
}

QUESTIONS = "[data-visible-if=has_questions]"


def answer(queue: leaseq.Queue, person: str, about: str) -> None:
    queue.finish(not_none(queue.reserve(person)), {"about": about, "note": f"by {person}"})


def shares(page: str) -> list[list[str]]:
    """The rows of the first question's table: answer, count and share."""
    rows = [row for table in elements(page, "table.shares") for row in table_rows(table)]
    return [" ".join(row).replace("·", " ").split() for row in rows[1:]]


def test_dashboard_shows_distribution_of_first_countable_question(
    manager_browser: Browser, queue: leaseq.Queue
) -> None:
    queue.configure(form=FORM)
    page = manager_browser.get(f"/manage/{queue.name}").text
    assert "What is it about?" not in page, "nobody has answered"
    queue.enqueue_many({} for _ in range(4))
    for about in ("refund", "refund", "refund", "parcel"):
        answer(queue, "ann", about)
    page = manager_browser.get(f"/manage/{queue.name}").text
    assert shares(page) == [["refund", "3", "75", "%"], ["parcel", "1", "25", "%"]]
    assert "All 4 answers." in page
    assert f"/manage/{queue.name}/answers" in page
    fragment = manager_browser.get(f"/manage/{queue.name}/charts").text
    assert shares(fragment) == shares(page), "also in the part that its script fetches each minute"


def test_cancelled_item_needs_no_attention(manager_browser: Browser, queue: leaseq.Queue) -> None:
    queue.enqueue({}, id="cancelled")
    queue.cancel("cancelled", "not needed")
    page = manager_browser.get(f"/manage/{queue.name}").text
    assert len(elements(page, "li.problem[data-visible-if=dead][hidden]")) == 1


def test_dashboard_shows_agreement_and_disagreements(manager_browser: Browser, queue: leaseq.Queue) -> None:
    queue.configure(form=FORM, answers=2)
    queue.enqueue_many({} for _ in range(4))
    for person in ("ann", "bob"):
        for n in range(4):
            answer(queue, person, "parcel" if (person, n) == ("bob", 0) else "refund")
    page = manager_browser.get(f"/manage/{queue.name}").text
    assert "people agree on 75 %" in page
    assert "1 disagreement" in page


def test_attention_section_precedes_items_in_work(manager_browser: Browser, queue: leaseq.Queue) -> None:
    queue.configure(lease_seconds=90)
    queue.enqueue({})
    queue.reserve("ann")
    page = manager_browser.get(f"/manage/{queue.name}").text
    assert page.index('id="attention"') < page.index('id="in-work"')
    assert re.search(
        r'<progress data-progress="lease" data-until="2[^"]+Z" max="90[.0]*" value="[78]\d"', page
    ), "the time left of its lease"
    (form,) = elements(page, "form[data-release]")
    fields = {name: attribute(form, f"[name={name}]", "value") for name in ("move", "id", "search")}
    question = manager_browser.post(attribute(page, "form[data-release]", "action"), fields)
    assert texts(question.text, "main h1") == ["Release 1 item"], "without the script"


def test_chart_lines_have_class_of_their_state(manager_browser: Browser, queue: leaseq.Queue) -> None:
    queue.configure()
    queue.enqueue({})
    page = manager_browser.get(f"/manage/{queue.name}").text
    assert set(attributes(page, ".line", "class")) <= {"line inbound", "line finished"}
    assert elements(page, ".line.finished")


def test_figures_of_questions_are_shown_once_somebody_asked(
    manager_browser: Browser, timed_queue: leaseq.Queue, clock: Clock
) -> None:
    for id, timeout in (("answered", 60), ("lapses", 60), ("open", 3_600)):
        with pytest.raises(leaseq.StillWaiting):
            timed_queue.ask({"text": id}, id=id, timeout=timeout, wait=0, by="refund bot")
    clock.tick(41)
    timed_queue.finish(not_none(timed_queue.reserve("ann")), {"text": "yes"})
    clock.tick(20)
    timed_queue.clear()
    (line,) = elements(manager_browser.get(f"/manage/{timed_queue.name}").text, QUESTIONS)
    assert re.findall(r"\d+", texts(line, "p")[0]) == ["1", "41", "1"]
    stats = timed_queue.stats()
    assert (stats.questions, stats.counters["lapsed"]) == (1, 1)
    assert stats.answer_seconds == pytest.approx(41)


def test_queue_without_questions_has_no_figures_of_them(
    manager_browser: Browser, queue: leaseq.Queue
) -> None:
    queue.enqueue({"text": "x"})
    assert elements(manager_browser.get(f"/manage/{queue.name}").text, f"{QUESTIONS}[hidden]")
