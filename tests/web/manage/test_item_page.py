"""The page of an item: its order, what it offers in each state, its keys, and undone acts in its history."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

import leaseq
from leaseq.transfer import rfc3339
from leaseq.webapp.store.threads import Threads
from tests.support.leases import not_none, take
from tests.web.conftest import Browser
from tests.web.elements import attribute, attributes, element, elements, text_of, texts

Prepare = Callable[[leaseq.Queue, str, str], object]


def page_of(browser: Browser, queue: leaseq.Queue, id: str, query: str = "") -> str:
    return browser.get(f"/manage/{queue.name}/items/{id}{query}").text


def finish(queue: leaseq.Queue, id: str, worker: str) -> None:
    queue.finish(take(queue, worker), {"about": "refund", "urgent": True})


def answer_late(queue: leaseq.Queue, id: str, worker: str) -> None:
    lease = take(queue, "ann")
    queue.release(id)
    finish(queue, id, worker)
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lease, {"about": "other", "urgent": False})


STATES: dict[str, tuple[Prepare, set[str]]] = {
    "inbound": (lambda *_: None, {"cancel", "assign", "change", "put-off", "remove"}),
    "assigned": (
        lambda queue, id, worker: queue.assign(id, worker),
        {"unassign", "cancel", "assign", "change", "put-off", "remove"},
    ),
    "reserved": (lambda queue, _, worker: take(queue, worker), {"release", "cancel", "answer", "remove"}),
    "scheduled": (
        lambda queue, id, _: queue.change(id, delay=3600),
        {"revive", "cancel", "assign", "change", "put-off", "remove"},
    ),
    "finished": (finish, {"correct", "reopen", "answer", "remove"}),
    "late": (answer_late, {"adopt", "correct", "reopen", "answer", "remove"}),
    "dead": (
        lambda queue, _, worker: queue.fail(take(queue, worker), "torn"),
        {"revive", "change", "answer", "remove"},
    ),
}
"""By state: how an item gets there, and what its page offers."""

FIELDS: dict[str, dict[str, str]] = {
    "put-off": {"seconds": "3600"},
    "reopen": {"reason": "look again"},
    "cancel": {"reason": "withdrawn"},
    "answer": {"text": "a message"},
    "correct": {"answer.about": "other", "answer.urgent": "true"},
    "change": {"priority": "7"},
}
"""What a manager types, by act."""

AFTER: dict[str, Callable[[leaseq.Item], bool]] = {
    "assign": lambda item: len(item.assigned_to) == 1,
    "unassign": lambda item: item.assigned_to == (),
    "change": lambda item: item.priority == 7,
    "put-off": lambda item: item.state == "scheduled",
    "release": lambda item: (item.state, item.history[-1].how) == ("inbound", "released"),
    "revive": lambda item: item.state == "inbound",
    "cancel": lambda item: (item.died_of, item.last_error) == ("cancelled", "withdrawn"),
    "reopen": lambda item: (item.state, item.history[-1].reason) == ("inbound", "look again"),
    "adopt": lambda item: item.answers[0].result["about"] == "other",
    "answer": lambda item: item.state != "inbound",
}
"""What is true of the item after each act but removal and correction."""


@pytest.mark.parametrize("state", STATES)
def test_page_offers_what_state_allows_and_does_it(
    manager_browser: Browser, form_queue: leaseq.Queue, worker_browser: Browser, state: str
) -> None:
    form_queue.configure(max_attempts=1)
    form_queue.remove("one")
    form_queue.remove("two")
    prepare, acts = STATES[state]
    for act in acts:
        id = f"{state}-{act}"
        form_queue.enqueue({"text": "hello"}, id=id)
        prepare(form_queue, id, worker_browser.name)
        base = f"/manage/{form_queue.name}/items/{id}"
        page = page_of(manager_browser, form_queue, id)
        urls = attributes(page, "main form[action]", "action") + attributes(page, ".acts a", "href")
        names = {url.removeprefix(f"{base}/").partition("?")[0] for url in urls if url.startswith(base)}
        assert names == acts
        fields = {**FIELDS.get(act, {"person": worker_browser.name} if act == "assign" else {})}
        tokens = attributes(page, f"form[action='{base}/{act}'] [name=token]", "value")
        fields |= {"token": tokens[0]} if tokens else {}
        if act == "correct":
            correction = manager_browser.get(attribute(page, ".acts a[href*='/correct']", "href")).text
            fields["token"] = attribute(correction, "form[novalidate] [name=token]", "value")
        response = manager_browser.post(f"{base}/{act}", fields)
        assert response.status_code == 303, (act, response.text)
        if act == "remove":
            assert manager_browser.get(base).status_code == 404
            continue
        item = form_queue.get(id)
        assert AFTER[act](item) if act in AFTER else item.answers[0].person == manager_browser.name, act
        form_queue.remove(id)


def test_order_of_page_is_answer_then_actions_then_content_thread_history(
    manager_browser: Browser, form_queue: leaseq.Queue
) -> None:
    answer_late(form_queue, "one", "bob")
    page = page_of(manager_browser, form_queue, "one")
    parts = elements(page, "h1, ul.facts, #answers, .acts, #content, #thread, #history")
    names = [node.attributes.get("id") or node.attributes.get("class") or node.tag for node in parts]
    assert names == ["h1", "facts", "answers", "acts", "content", "thread", "history"]
    acts = element(page, ".acts")
    assert elements(acts, "form")[-1].attributes["action"] == f"/manage/{form_queue.name}/items/one/remove"
    assert elements(acts, "details.menu form[action$='/remove']"), "removal is in a menu"
    assert "token" not in text_of(element(page, "#history"))


def test_answer_shows_labels_of_questions_and_choices(manager_browser: Browser, queue: leaseq.Queue) -> None:
    options = [{"const": "esc", "title": "Escalate"}, {"const": 2, "title": "Second line"}]
    properties = {
        "one": {"title": "Decision", "oneOf": options},
        "many": {"title": "Teams", "type": "array", "items": {"oneOf": options}},
        "group": {
            "type": "object",
            "title": "More",
            "properties": {"in": {"title": "Inner", "oneOf": options}},
        },
    }
    queue.configure(form={"ask": {"type": "object", "properties": properties}})
    queue.enqueue({"text": "x"}, id="a")
    queue.finish(take(queue, "ann"), {"one": "esc", "many": [2, "esc"], "group": {"in": 2}})
    answer = element(page_of(manager_browser, queue, "a"), "dl.answer")
    assert texts(answer, "dt") == ["Decision", "Teams", "More", "Inner"]
    assert texts(answer, "dd")[:2] == ["Escalate", "Second line, Escalate"]
    assert texts(answer, "dd")[-1] == "Second line"


def test_page_says_who_asks_since_when_and_until_when(manager_browser: Browser, queue: leaseq.Queue) -> None:
    with pytest.raises(leaseq.StillWaiting):
        queue.ask({"text": "x"}, id="a", timeout=600, wait=0, by="refund bot")
    queue.enqueue({"text": "x"}, id="b")
    item = queue.get("a")
    page = page_of(manager_browser, queue, "a")
    times = attributes(page, "dl.details time", "datetime")
    assert times == [rfc3339(item.enqueued_at), rfc3339(not_none(item.expires))]
    assert "refund bot" in text_of(element(page, "dl.details"))
    assert not elements(page_of(manager_browser, queue, "b"), "dl.details time")


def test_answer_shows_what_was_suggested_instead(manager_browser: Browser, queue: leaseq.Queue) -> None:
    options = [{"const": "esc", "title": "Escalate"}, {"const": "ok", "title": "Approve"}]
    ask = {"type": "object", "properties": {"what": {"oneOf": options}, "risk": {"type": "integer"}}}
    queue.configure(form={"ask": ask, "prefill": {"what": "guess", "risk": "risk"}})
    queue.enqueue({"guess": "ok", "risk": 3}, id="a")
    queue.finish(take(queue, "ann"), {"what": "esc", "risk": 3})
    assert texts(page_of(manager_browser, queue, "a"), "dl.answer dd") == ["Escalate suggested: Approve", "3"]
    queue.reopen("a", queue.get("a").answers[0].token)
    queue.finish(take(queue, "bob"), {"what": "ok", "risk": 4})
    cells = [
        texts(row, "td") for row in elements(page_of(manager_browser, queue, "a"), "table.answers tbody tr")
    ]
    assert cells == [["Approve", "Escalate suggested: Approve"], ["4 suggested: 3", "3"]]


def test_keys_are_on_what_they_press(
    manager_browser: Browser, form_queue: leaseq.Queue, threads: Threads
) -> None:
    def keys(query: str = "") -> list[str]:
        page = page_of(manager_browser, form_queue, "one", query)
        pressed = elements(page, "[data-page-key]")
        for node in pressed:
            assert node.attributes["aria-keyshortcuts"] == node.attributes["data-page-key"]
            assert texts(node, "kbd") == [(node.attributes["data-page-key"] or "").upper()]
        return sorted(node.attributes["data-page-key"] or "" for node in pressed)

    assert keys() == ["j"], "nothing to accept, correct or reopen"
    take(form_queue, "ann")
    threads.ask(form_queue.name, "one", "ann", "why?", message="1")
    assert keys() == ["a"], "the question needs no answer"
    threads.settle(form_queue.name, "one")
    form_queue.release("one")
    answer_late(form_queue, "one", "bob")
    assert keys() == ["a", "c", "r"], "the only done item"
    form_queue.adopt("one", form_queue.get("one").late_answers[0].token)
    assert keys() == ["c", "r"], "the replaced answer is accepted without a key"


def test_neighbours_are_of_same_state_without_a_list(manager_browser: Browser, queue: leaseq.Queue) -> None:
    for n in range(3):
        queue.enqueue({}, id=f"done-{n}")
        queue.finish(take(queue, "ann"), {})
        queue.enqueue({}, id=f"waiting-{n}", delay=3600)
    page = page_of(manager_browser, queue, "done-1")
    links = [attribute(page, f"a[rel={rel}]", "href") for rel in ("prev", "next")]
    assert ["/items/done-2?" in links[0], "/items/done-0?" in links[1]] == [True, True], "latest first"
    assert elements(manager_browser.get(links[0]).text, "a[rel=prev]") == []
    assert elements(page_of(manager_browser, queue, "done-1", "?state=dead"), "a[rel]") == []


@pytest.mark.parametrize(
    ("until", "expected"),
    [("", "date and a time"), ("soon", "date and a time"), ("2020-01-01T00:00", "in the future"), (None, "")],
)
def test_item_is_put_off_until_a_time(
    manager_browser: Browser, queue: leaseq.Queue, until: str | None, expected: str
) -> None:
    queue.enqueue({}, id="a")
    path = f"/manage/{queue.name}/items/a"
    at = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(days=1)
    response = manager_browser.post(
        f"{path}/put-off", {"until": f"{at:%Y-%m-%dT%H:%M}" if until is None else until}
    )
    item = queue.get("a")
    if until is None:
        assert (item.state, abs(item.state_since - at) < timedelta(seconds=2)) == ("scheduled", True)
        return
    assert (response.status_code, item.state) == (400, "inbound")
    assert expected in element(response.text, "[role=alert]").text()
    assert attribute(response.text, "#until", "value") == until
    assert elements(response.text, "details[open] #until")


@pytest.mark.parametrize("act", ["finish", "abandon", "fail"])
def test_history_tells_undone_act_in_words(manager_browser: Browser, queue: leaseq.Queue, act: str) -> None:
    queue.configure(max_attempts=1)
    queue.enqueue({}, id="a")
    lease = take(queue, "ann")
    if act == "finish":
        queue.finish(lease, {"answer": "x"})
        continued = queue.undo_finish(lease)
        told = "ann finished it"
    else:
        queue.abandon(lease, "torn") if act == "abandon" else queue.fail(lease, "torn")
        continued = queue.take_back(lease)
        told = "ann gave it back" if act == "abandon" else "ann reported a problem"
    queue.renew(continued)
    lines = texts(page_of(manager_browser, queue, "a"), ".timeline p:first-child")
    died = ["It failed permanently"] if act == "fail" else []
    assert lines == [
        "Added to the queue",
        "ann got it 1st try",
        told,
        *died,
        "ann undid that, and has it again extended once",
    ]


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (13, "13th"), (21, "21st")],
)
def test_try_is_an_ordinal(manager_browser: Browser, queue: leaseq.Queue, number: int, text: str) -> None:
    queue.enqueue({}, id="a")
    for _ in range(number):
        queue.abandon(not_none(queue.reserve("ann")))
    assert f"{text} try" in texts(page_of(manager_browser, queue, "a"), ".facts li")
