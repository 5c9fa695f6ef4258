"""What people ask about an item and managers answer."""

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


def ask(queue: leaseq.Queue, person: Browser, lease: leaseq.Lease, text: str, **fields: Any) -> Any:
    return send(queue, person, lease, "ask", **{"question": text, "message": text, **fields})


@pytest.fixture
def lease(asking: leaseq.Queue, person: Browser) -> leaseq.Lease:
    return take(asking, person)


def test_a_question_is_answered(
    asking: leaseq.Queue, person: Browser, boss: Browser, lease: leaseq.Lease
) -> None:
    assert ask(asking, person, lease, "is <b>this</b> one ours?").location == f"{path(asking)}?item=one"
    question = (person.name, "is <b>this</b> one ours?")
    assert messages(person.get(path(asking)).text) == [question]
    page = boss.get(item_path(asking, lease.id)).text
    assert (messages(page), "No answer needed" in page) == ([question], True)
    fields = {"text": "yes, take it", "message": "a"}
    assert boss.post(item_path(asking, lease.id, "answer"), fields).location.endswith("#thread")
    thread = [question, (f"{boss.name} (manager)", "yes, take it")]
    assert messages(person.get(path(asking)).text) == thread
    assert messages(person.get(path(asking, "items", lease.id, "thread")).text) == thread
    assert messages(person.get("/day").text) == thread
    assert "No answer needed" not in boss.get(item_path(asking, lease.id)).text


def test_the_form_keeps_what_was_typed_and_its_lease(
    asking: leaseq.Queue, person: Browser, lease: leaseq.Lease
) -> None:
    ask_schema = {"type": "object", "properties": {"why": {"type": "string"}}}
    asking.configure(form={"show": ["text"], "ask": ask_schema})
    ask(asking, person, lease, "is it ours?", **{"answer.why": "half a word"})
    (held_lease,) = asking.mine(person.name)
    assert (held_lease.token, held_lease.draft) == (lease.token, {"why": "half a word"})


def test_who_gets_the_item_next_reads_it_and_who_had_it_no_more(
    asking: leaseq.Queue, person: Browser, visitor: Callable[[str], Browser], lease: leaseq.Lease
) -> None:
    asking.remove("two" if lease.id == "one" else "one")
    ask(asking, person, lease, "which colour?")
    asking.abandon(lease, again=False)
    assert person.get(path(asking, "items", lease.id, "thread")).status_code == 404
    other = visitor("worker")
    assert take(asking, other).id == lease.id
    assert messages(other.get(path(asking)).text) == [(person.name, "which colour?")]


def test_what_is_sent_again_is_there_once(
    asking: leaseq.Queue, person: Browser, threads: Threads, lease: leaseq.Lease
) -> None:
    for _ in range(2):
        ask(asking, person, lease, "which colour?", message="first")
    ask(asking, person, lease, "which colour?", message="second")
    assert [one.text for one in threads.of_item(asking.name, lease.id)] == ["which colour?"] * 2


def test_another_text_under_the_same_id_is_another_message(
    asking: leaseq.Queue, person: Browser, threads: Threads, lease: leaseq.Lease
) -> None:
    """They changed it while nobody knew whether the first one had arrived."""
    for text in ("which colour?", "which of the two colours?", "which of the two colours?\r\nred?"):
        ask(asking, person, lease, text, message="first")
    texts = [one.text for one in threads.of_item(asking.name, lease.id)]
    assert texts == ["which colour?", "which of the two colours?", "which of the two colours?\nred?"]


def test_a_message_whose_reply_was_lost_halfway_is_in_the_list_when_it_is_sent_again(
    asking: leaseq.Queue, person: Browser, threads: Threads, lease: leaseq.Lease
) -> None:
    ask(asking, person, lease, "which colour?", message="first")
    threads.settle(asking.name, lease.id)
    ask(asking, person, lease, "which colour?", message="first")
    assert threads.count_unanswered(asking.name) == 1


def test_of_several_answers_the_next_person_reads_it_too(
    asking: leaseq.Queue, person: Browser, visitor: Callable[[str], Browser]
) -> None:
    asking.configure(answers=2)
    other = visitor("worker")
    lease, second_lease = take(asking, person), take(asking, other)
    ask(asking, person, lease, "which colour?")
    asking.finish(lease, {"about": "refund", "urgent": True})
    fields = {
        "token": str(second_lease.token),
        "then": "next",
        "answer.about": "refund",
        "answer.urgent": "true",
    }
    finish_path = path(asking, "items", second_lease.id, "finish")
    piece = other.post(finish_path, fields, headers={"X-Leaseq-Piece": "yes"}).text
    assert [one.id for one in asking.mine(other.name)] == [lease.id]
    assert messages(piece) == [(person.name, "which colour?")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("  ", "Type your question."),
        ("x" * (MAX_TEXT + 1), "1 to 2,000 characters; this has 2,001"),
    ],
)
def test_a_bad_question_is_refused_and_stands_in_its_box(
    asking: leaseq.Queue, person: Browser, threads: Threads, lease: leaseq.Lease, text: str, message: str
) -> None:
    response = ask(asking, person, lease, text)
    assert (response.status_code, message in response.text, text in response.text) == (422, True, True)
    assert threads.of_item(asking.name, lease.id) == []


def test_a_full_thread_takes_no_more(
    asking: leaseq.Queue, person: Browser, boss: Browser, threads: Threads, lease: leaseq.Lease
) -> None:
    for number in range(MAX_MESSAGES):
        threads.ask(asking.name, lease.id, person.name, "well?", message=str(number))
    threads.ask(asking.name, lease.id, person.name, "well?", message="0")  # sent again, it is there already
    message = f"at most {MAX_MESSAGES} messages about an item"
    assert message in ask(asking, person, lease, "and now?").text
    response = boss.post(item_path(asking, lease.id, "answer"), {"text": "I see", "message": "a"})
    assert (response.status_code, f"Not sent: {message}" in response.text) == (400, True)
    (box,) = re.findall(r'<textarea id="text" name="text"[^>]*>\n([^<]*)</textarea>', response.text)
    assert box == "I see", "it stands in the item's page, ready to be sent again"


def test_who_lost_the_item_keeps_the_words_of_the_question(
    asking: leaseq.Queue, person: Browser, threads: Threads, lease: leaseq.Lease
) -> None:
    asking.release(lease.id, by="a manager")
    response = ask(asking, person, lease, "which colour?")
    assert (response.status_code, "which colour?" in response.text) == (422, True)
    assert "you don't have the item any more" in html.unescape(response.text)
    assert threads.of_item(asking.name, lease.id) == []


def test_an_item_that_is_not_theirs_has_no_thread_for_them(asking: leaseq.Queue, person: Browser) -> None:
    asking.enqueue({"text": "third"}, id="three")
    assert person.get(path(asking, "items", "three", "thread")).status_code == 404
    response = person.post(path(asking, "items", "three", "ask"), {"token": "1", "question": "what is it?"})
    assert response.status_code == 404


def test_a_manager_takes_a_question_from_the_list_without_an_answer(
    asking: leaseq.Queue, person: Browser, boss: Browser, threads: Threads, lease: leaseq.Lease
) -> None:
    ask(asking, person, lease, "forget it")
    assert [one.id for one in threads.unanswered(asking.name, 9)] == [lease.id]
    boss.post(item_path(asking, lease.id, "settle"))
    assert threads.unanswered(asking.name, 9) == []
    assert messages(boss.get(item_path(asking, lease.id)).text) == [(person.name, "forget it")]


def test_the_managers_page_has_no_thread_before_somebody_had_the_item(
    asking: leaseq.Queue, boss: Browser
) -> None:
    assert 'id="thread"' not in boss.get(item_path(asking, "two")).text


def test_what_a_manager_wrote_is_in_the_log_without_its_words(
    asking: leaseq.Queue,
    person: Browser,
    boss: Browser,
    visitor: Callable[[str], Browser],
    lease: leaseq.Lease,
) -> None:
    ask(asking, person, lease, "which colour?")
    boss.post(item_path(asking, lease.id, "answer"), {"text": "the blue one", "message": "a"})
    log = visitor("admin").get("/people/log", query_string={"person": boss.name}).text
    assert "wrote about an item" in log
    assert "the blue one" not in log


def test_a_removed_item_takes_its_thread_along(
    asking: leaseq.Queue, person: Browser, boss: Browser, threads: Threads, lease: leaseq.Lease
) -> None:
    ask(asking, person, lease, "which colour?")
    boss.post(item_path(asking, lease.id, "remove"))
    assert (threads.of_item(asking.name, lease.id), threads.unanswered(asking.name, 9)) == ([], [])
    assert "which colour?" not in person.get("/day").text


def test_threads_expire_and_a_person_s_list_is_short(
    asking: leaseq.Queue, server: Any, threads: Threads, person: Browser
) -> None:
    for number in range(60):
        threads.ask(asking.name, f"i{number}", person.name, "well?", message="m")
    assert len(threads.asked_by(person.name, 100)) == 50
    assert threads.asked_by(person.name, 1) == [(asking.name, "i59")]
    for key in server.redis.scan_iter(match=f"leaseq:{{@threads}}:*{asking.name}*", count=10_000):
        assert 0 < server.redis.ttl(key) <= 400 * 86_400
