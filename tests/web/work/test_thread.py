"""People's questions about an item, and managers' answers."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq.webapp.store.threads import MAX_MESSAGES, MAX_TEXT, Threads
from tests.web.conftest import Browser
from tests.web.work_pages import path, send, take


def messages(page: str) -> list[tuple[str, str]]:
    """The thread of a page: each message with its author."""
    matches = re.findall(
        r'<p class="help">([^·<]*?) ·.*?</p><p class="text" dir="auto">(.*?)</p></li>', page, re.S
    )
    return [(author.strip(), html.unescape(text)) for author, text in matches]


def item_path(queue: leaseq.Queue, id: str, *verb: str) -> str:
    return "/".join(("/manage", queue.name, "items", id, *verb))


def ask(queue: leaseq.Queue, browser: Browser, lease: leaseq.Lease, text: str, **fields: Any) -> Any:
    return send(queue, browser, lease, "ask", **{"question": text, "message": text, **fields})


@pytest.fixture
def lease(form_queue: leaseq.Queue, worker_browser: Browser) -> leaseq.Lease:
    return take(form_queue, worker_browser)


def test_a_question_is_answered(
    form_queue: leaseq.Queue, worker_browser: Browser, manager_browser: Browser, lease: leaseq.Lease
) -> None:
    assert (
        ask(form_queue, worker_browser, lease, "is <b>this</b> one ours?").location
        == f"{path(form_queue)}?item=one"
    )
    question = (worker_browser.name, "is <b>this</b> one ours?")
    assert messages(worker_browser.get(path(form_queue)).text) == [question]
    page = manager_browser.get(item_path(form_queue, lease.id)).text
    assert (messages(page), "No answer needed" in page) == ([question], True)
    fields = {"text": "yes, take it", "message": "a"}
    assert manager_browser.post(item_path(form_queue, lease.id, "answer"), fields).location.endswith(
        "#thread"
    )
    thread = [question, (f"{manager_browser.name} (manager)", "yes, take it")]
    assert messages(worker_browser.get(path(form_queue)).text) == thread
    assert messages(worker_browser.get(path(form_queue, "items", lease.id, "thread")).text) == thread
    assert messages(worker_browser.get("/day").text) == thread
    assert "No answer needed" not in manager_browser.get(item_path(form_queue, lease.id)).text


def test_question_saves_draft_and_keeps_lease(
    form_queue: leaseq.Queue, worker_browser: Browser, lease: leaseq.Lease
) -> None:
    ask_schema = {"type": "object", "properties": {"why": {"type": "string"}}}
    form_queue.configure(form={"show": ["text"], "ask": ask_schema})
    ask(form_queue, worker_browser, lease, "is it ours?", **{"answer.why": "half a word"})
    (held_lease,) = form_queue.mine(worker_browser.name)
    assert (held_lease.token, held_lease.draft) == (lease.token, {"why": "half a word"})


def test_thread_is_visible_to_next_holder_but_not_to_previous_holder(
    form_queue: leaseq.Queue,
    worker_browser: Browser,
    sign_in_as: Callable[[str], Browser],
    lease: leaseq.Lease,
) -> None:
    form_queue.remove("two" if lease.id == "one" else "one")
    ask(form_queue, worker_browser, lease, "which colour?")
    form_queue.abandon(lease, again=False)
    assert worker_browser.get(path(form_queue, "items", lease.id, "thread")).status_code == 404
    other = sign_in_as("worker")
    assert take(form_queue, other).id == lease.id
    assert messages(other.get(path(form_queue)).text) == [(worker_browser.name, "which colour?")]


def test_question_sent_again_is_stored_once(
    form_queue: leaseq.Queue, worker_browser: Browser, threads: Threads, lease: leaseq.Lease
) -> None:
    for _ in range(2):
        ask(form_queue, worker_browser, lease, "which colour?", message="first")
    ask(form_queue, worker_browser, lease, "which colour?", message="second")
    assert [one.text for one in threads.of_item(form_queue.name, lease.id)] == ["which colour?"] * 2


def test_another_text_under_the_same_id_is_another_message(
    form_queue: leaseq.Queue, worker_browser: Browser, threads: Threads, lease: leaseq.Lease
) -> None:
    """The person changed the text before the response to the first request."""
    for text in ("which colour?", "which of the two colours?", "which of the two colours?\r\nred?"):
        ask(form_queue, worker_browser, lease, text, message="first")
    texts = [one.text for one in threads.of_item(form_queue.name, lease.id)]
    assert texts == ["which colour?", "which of the two colours?", "which of the two colours?\nred?"]


def test_question_sent_again_is_listed_as_unanswered(
    form_queue: leaseq.Queue, worker_browser: Browser, threads: Threads, lease: leaseq.Lease
) -> None:
    ask(form_queue, worker_browser, lease, "which colour?", message="first")
    threads.settle(form_queue.name, lease.id)
    ask(form_queue, worker_browser, lease, "which colour?", message="first")
    assert threads.count_unanswered(form_queue.name) == 1


def test_thread_is_shown_to_next_person_of_item_with_several_answers(
    form_queue: leaseq.Queue, worker_browser: Browser, sign_in_as: Callable[[str], Browser]
) -> None:
    form_queue.configure(answers=2)
    other = sign_in_as("worker")
    lease, second_lease = take(form_queue, worker_browser), take(form_queue, other)
    ask(form_queue, worker_browser, lease, "which colour?")
    form_queue.finish(lease, {"about": "refund", "urgent": True})
    fields = {
        "token": str(second_lease.token),
        "then": "next",
        "answer.about": "refund",
        "answer.urgent": "true",
    }
    finish_path = path(form_queue, "items", second_lease.id, "finish")
    fragment = other.post(finish_path, fields, headers={"X-Leaseq-Fragment": "yes"}).text
    assert [one.id for one in form_queue.mine(other.name)] == [lease.id]
    assert messages(fragment) == [(worker_browser.name, "which colour?")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("  ", "Type your question."),
        ("x" * (MAX_TEXT + 1), "1 to 2,000 characters"),
    ],
)
def test_invalid_question_is_refused_and_kept_in_its_box(
    form_queue: leaseq.Queue,
    worker_browser: Browser,
    threads: Threads,
    lease: leaseq.Lease,
    text: str,
    message: str,
) -> None:
    response = ask(form_queue, worker_browser, lease, text)
    assert (response.status_code, message in response.text, text in response.text) == (422, True, True)
    assert threads.of_item(form_queue.name, lease.id) == []


def test_longest_question_is_accepted(
    form_queue: leaseq.Queue, worker_browser: Browser, threads: Threads, lease: leaseq.Lease
) -> None:
    assert ask(form_queue, worker_browser, lease, "x" * MAX_TEXT).status_code < 400
    assert [len(message.text) for message in threads.of_item(form_queue.name, lease.id)] == [MAX_TEXT]


def test_full_thread_refuses_further_messages(
    form_queue: leaseq.Queue,
    worker_browser: Browser,
    manager_browser: Browser,
    threads: Threads,
    lease: leaseq.Lease,
) -> None:
    for number in range(MAX_MESSAGES):
        threads.ask(form_queue.name, lease.id, worker_browser.name, "well?", message=str(number))
    threads.ask(
        form_queue.name, lease.id, worker_browser.name, "well?", message="0"
    )  # sent again, so it is not another message
    message = f"at most {MAX_MESSAGES} messages about an item"
    assert message in ask(form_queue, worker_browser, lease, "and now?").text
    response = manager_browser.post(
        item_path(form_queue, lease.id, "answer"), {"text": "I see", "message": "a"}
    )
    assert (response.status_code, f"Not sent: expected {message}" in response.text) == (400, True)
    (box,) = re.findall(r'<textarea id="text" name="text"[^>]*>\n([^<]*)</textarea>', response.text)
    assert box == "I see", "it is on the item's page, ready to be sent again"


def test_question_after_lost_lease_is_refused_and_its_text_kept(
    form_queue: leaseq.Queue, worker_browser: Browser, threads: Threads, lease: leaseq.Lease
) -> None:
    form_queue.release(lease.id, by="a manager")
    response = ask(form_queue, worker_browser, lease, "which colour?")
    assert (response.status_code, "which colour?" in response.text) == (422, True)
    assert "you no longer have the item" in html.unescape(response.text)
    assert threads.of_item(form_queue.name, lease.id) == []


def test_thread_of_item_never_held_is_not_found(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    form_queue.enqueue({"text": "third"}, id="three")
    assert worker_browser.get(path(form_queue, "items", "three", "thread")).status_code == 404
    response = worker_browser.post(
        path(form_queue, "items", "three", "ask"), {"token": "1", "question": "what is it?"}
    )
    assert response.status_code == 404


def test_manager_settles_question_without_answering(
    form_queue: leaseq.Queue,
    worker_browser: Browser,
    manager_browser: Browser,
    threads: Threads,
    lease: leaseq.Lease,
) -> None:
    ask(form_queue, worker_browser, lease, "forget it")
    assert [one.id for one in threads.unanswered(form_queue.name, 9)] == [lease.id]
    manager_browser.post(item_path(form_queue, lease.id, "settle"))
    assert threads.unanswered(form_queue.name, 9) == []
    assert messages(manager_browser.get(item_path(form_queue, lease.id)).text) == [
        (worker_browser.name, "forget it")
    ]


def test_item_page_has_no_thread_before_first_lease(
    form_queue: leaseq.Queue, manager_browser: Browser
) -> None:
    assert 'id="thread"' not in manager_browser.get(item_path(form_queue, "two")).text


def test_audit_log_records_manager_message_without_its_text(
    form_queue: leaseq.Queue,
    worker_browser: Browser,
    manager_browser: Browser,
    sign_in_as: Callable[[str], Browser],
    lease: leaseq.Lease,
) -> None:
    ask(form_queue, worker_browser, lease, "which colour?")
    manager_browser.post(item_path(form_queue, lease.id, "answer"), {"text": "the blue one", "message": "a"})
    log = sign_in_as("admin").get("/audit-log", query_string={"person": manager_browser.name}).text
    assert "wrote about" in log
    assert "the blue one" not in log


def test_removing_item_deletes_its_thread(
    form_queue: leaseq.Queue,
    worker_browser: Browser,
    manager_browser: Browser,
    threads: Threads,
    lease: leaseq.Lease,
) -> None:
    ask(form_queue, worker_browser, lease, "which colour?")
    manager_browser.post(item_path(form_queue, lease.id, "remove"))
    assert (threads.of_item(form_queue.name, lease.id), threads.unanswered(form_queue.name, 9)) == ([], [])
    assert "which colour?" not in worker_browser.get("/day").text


def test_threads_expire_and_list_of_person_is_limited(
    form_queue: leaseq.Queue, server: Any, threads: Threads, worker_browser: Browser
) -> None:
    for number in range(60):
        threads.ask(form_queue.name, f"i{number}", worker_browser.name, "well?", message="m")
    assert len(threads.asked_by(worker_browser.name, 100)) == 50
    assert threads.asked_by(worker_browser.name, 1) == [(form_queue.name, "i59")]
    for key in server.redis.scan_iter(match=f"leaseq:{{@threads}}:*{form_queue.name}*", count=10_000):
        assert 0 < server.redis.ttl(key) <= 400 * 86_400
