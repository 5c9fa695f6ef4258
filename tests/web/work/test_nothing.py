"""The page's explanation if there is no item for a person."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

import leaseq
from leaseq.webapp import context
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.queue_access import Access, Group
from leaseq.webapp.work import home
from tests.support.leases import not_none
from tests.web.conftest import Browser
from tests.web.elements import elements, text_of, times_as_t
from tests.web.work_pages import path, send, take


@pytest.fixture
def other(queue: leaseq.Queue) -> Callable[[str], leaseq.Queue]:
    """Makes another queue of the test, whose name ends with the argument."""
    return lambda name: leaseq.Queue(queue._client, f"{queue.name}-{name}")


def explanation(queue: leaseq.Queue, browser: Browser) -> str:
    """The explanation on the page, with times as T."""
    reason = elements(times_as_t(browser.get(path(queue)).text), "#reason > p")[0]
    return " ".join(reason.text().split())


def test_page_explains_done_scheduled_waiting_and_paused_queue(
    queue: leaseq.Queue, worker_browser: Browser
) -> None:
    queue.configure()
    assert explanation(queue, worker_browser) == "All done."
    queue.enqueue({}, delay=600)
    assert explanation(queue, worker_browser) == "All done for now. The next item comes at T."
    queue.enqueue({})
    assert explanation(queue, worker_browser) == "1 waiting."
    queue.pause("lunch <b>")
    assert explanation(queue, worker_browser) == "Paused: lunch <b>. Nobody gets new items."


def test_all_done_message_counts_items_finished_today(queue: leaseq.Queue, worker_browser: Browser) -> None:
    for _ in range(2):
        queue.enqueue({})
        send(queue, worker_browser, take(queue, worker_browser), "finish", **{"answer.answer": "yes"})
    assert explanation(queue, worker_browser) == "All done. 2 today."


def other_queues(page: str) -> list[tuple[str, str]]:
    return [(node.attributes["href"] or "", text_of(node)) for node in elements(page, ".other-queues a")]


@pytest.fixture
def own_queues_only(queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit the queues that the person may work on to those of this test."""
    all_names = context.queue_names
    own_names = lambda: [name for name in all_names() if name.startswith(queue.name)]  # noqa: E731
    monkeypatch.setattr(home, "queue_names", own_names)


@pytest.mark.usefixtures("own_queues_only")
def test_other_queues_with_work_are_listed(
    queue: leaseq.Queue, worker_browser: Browser, app: Flask, other: Callable[[str], leaseq.Queue]
) -> None:
    queue.configure()
    assert other_queues(worker_browser.get(path(queue)).text) == []
    refunds, closed, french, empty, begun = map(other, ("refunds", "closed", "french", "empty", "yours"))
    refunds.configure(title="Refunds <b>")
    refunds.enqueue_many({} for _ in range(12))
    refunds.enqueue_many(leaseq.NewItem({}, requires=("fr",)) for _ in range(5))  # not for this person
    app.extensions["leaseq"].access.set(closed.name, Access(work=Group(people=("somebody else",))))
    closed.enqueue({})
    french.enqueue({}, requires=["fr"])
    empty.configure()
    begun.enqueue({})
    begun.reserve(worker_browser.name)
    links = other_queues(worker_browser.get(path(queue)).text)
    assert links == [
        (path(refunds), "12 waiting in Refunds <b>"),
        (path(begun), f"You hold 1 in {begun.name}"),
    ]
    queue.enqueue({})
    assert other_queues(worker_browser.get(path(queue)).text) == []


@pytest.mark.usefixtures("own_queues_only")
def test_number_of_other_queues_is_limited(
    queue: leaseq.Queue,
    worker_browser: Browser,
    other: Callable[[str], leaseq.Queue],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queue.configure()
    for name in "abcd":
        other(name).enqueue({})
    assert len(other_queues(worker_browser.get(path(queue)).text)) == home.MAX_NAMED
    monkeypatch.setattr(home, "MAX_ASKED", 2)
    assert len(other_queues(worker_browser.get(path(queue)).text)) == 2


def test_page_explains_that_others_hold_remaining_items(
    queue: leaseq.Queue, worker_browser: Browser, sign_in_as: Callable[[str], Browser]
) -> None:
    queue.enqueue({})
    take(queue, sign_in_as("worker"))
    assert (
        explanation(queue, worker_browser) == "The last one left is with somebody else; it becomes free at T."
    )
    queue.enqueue({})
    take(queue, sign_in_as("worker"))
    assert (
        explanation(queue, worker_browser) == "All 2 left are with other people; the first becomes free at T."
    )
    queue.enqueue({}, delay=600)
    assert explanation(queue, worker_browser) == (
        "2 are with other people, 1 for later; the first becomes free at T."
    )


def test_page_explains_why_waiting_items_are_not_for_person(
    queue: leaseq.Queue, worker_browser: Browser, accounts: Accounts
) -> None:
    queue.enqueue({}, id="bonjour", requires=["fr"])
    assert explanation(queue, worker_browser) == "Nothing is waiting for you: each item needs fr."
    queue.enqueue({}, id="vertrag", requires=["de", "legal"])
    assert (
        explanation(queue, worker_browser)
        == "Nothing is waiting for you: each item needs fr, or de and legal."
    )
    accounts.change(worker_browser.name, by="test", skills=["de"])
    assert explanation(queue, worker_browser) == "Nothing is waiting for you: each item needs fr, or legal."
    queue.enqueue({}, id="hers")
    queue.assign("hers", "somebody else")
    assert (
        explanation(queue, worker_browser)
        == "Nothing is waiting for you: each item needs fr, or legal, or is assigned to somebody else."
    )
    queue.remove("bonjour")
    queue.remove("vertrag")
    assert (
        explanation(queue, worker_browser)
        == "Nothing is waiting for you: each item is assigned to somebody else."
    )
    queue.enqueue({}, id="passed")
    queue.abandon(not_none(queue.reserve(worker_browser.name)), again=False)
    reason = "is one that you have answered or passed on."
    assert (
        explanation(queue, worker_browser)
        == f"Nothing is waiting for you: each item is assigned to somebody else, or {reason}"
    )
    queue.remove("hers")
    assert (
        explanation(queue, worker_browser) == "Nothing left for you: you have answered or passed on the rest."
    )


def test_explanation_includes_skills_of_items_far_back_in_queue(
    queue: leaseq.Queue, worker_browser: Browser
) -> None:
    queue.enqueue_many(leaseq.NewItem({}, requires=("de",)) for _ in range(150))
    queue.enqueue({}, requires=["fr"])
    assert explanation(queue, worker_browser) == "Nothing is waiting for you: each item needs de, or fr."


def test_page_explains_missing_skills_while_others_hold_items(
    queue: leaseq.Queue, worker_browser: Browser, sign_in_as: Callable[[str], Browser]
) -> None:
    queue.enqueue({})
    take(queue, sign_in_as("worker"))
    queue.enqueue({}, requires=["fr"])
    assert explanation(queue, worker_browser) == (
        "Nothing is waiting for you: each item needs fr. An item that others hold may become free at T."
    )
