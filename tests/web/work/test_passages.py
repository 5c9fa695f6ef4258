"""Passages of a text without the page's script, on the manager's pages, and in REST and exports."""

from __future__ import annotations

import csv
import html
import json
from typing import Any

import leaseq
from tests.support.leases import take as take_lease
from tests.support.passages import passages_of
from tests.web.conftest import Browser, Caller
from tests.web.elements import attribute, attributes, element, elements, form_fields, text_of, texts
from tests.web.manage.settings_calls import base, settings_fields
from tests.web.work_pages import path, send, take

TEXT = "Ann <b>👩‍👩‍👧</b>\r\nleft."
MARKS = passages_of("text")
FORM: dict[str, Any] = {
    "show": ["text"],
    "ask": {"type": "object", "properties": {"marks": MARKS}},
    "prefill": {"marks": "guess"},
}
NAME = {"start": 0, "end": 3, "label": "name"}
MOOD = {"start": 7, "end": 12, "label": "mood"}


def filled(queue: leaseq.Queue, **payload: Any) -> leaseq.Queue:
    queue.configure(form=FORM)
    queue.enqueue({"text": TEXT, "guess": [NAME], **payload}, id="one")
    return queue


def test_passages_are_typed_as_numbers_without_script(queue: leaseq.Queue, worker_browser: Browser) -> None:
    lease = take(filled(queue), worker_browser)
    page = worker_browser.get(path(queue)).text
    assert "<p" in page
    assert "&lt;/b&gt;&#13;\n" in page  # a browser would drop a plain one, and count wrongly
    assert attribute(page, ".part", "data-field") == "text"
    fields = form_fields(page, "answer")
    assert (fields["answer.marks.0.start"], fields["answer.marks.0.end"]) == ("0", "3")
    typed = {"answer.marks.1.start": "7", "answer.marks.1.end": "120", "answer.marks.1.label": "mood"}
    refused = send(queue, worker_browser, lease, "finish", **{**fields, **typed})
    assert refused.status_code == 422
    assert "Row 2: expected a start before its end" in texts(refused.text, "#errors li")[0]
    assert form_fields(refused.text, "answer")["answer.marks.1.end"] == "120"
    send(queue, worker_browser, lease, "finish", **{**fields, **typed, "answer.marks.1.end": "12"})
    (answer,) = queue.get("one").answers
    assert answer.result == {"marks": [{**NAME, "text": "Ann"}, {**MOOD, "text": "👩‍👩‍👧"}]}


def test_item_without_the_text_takes_no_passages(queue: leaseq.Queue, worker_browser: Browser) -> None:
    lease = take(filled(queue, text=["a", "list"]), worker_browser)
    fields = form_fields(worker_browser.get(path(queue)).text, "answer")
    refused = send(queue, worker_browser, lease, "finish", **fields)
    assert refused.status_code == 422
    assert "the item has no text" in texts(refused.text, "#errors li")[0]
    empty = {name: "" for name in fields if name.startswith("answer.")}
    send(queue, worker_browser, lease, "finish", **{**fields, **empty})
    assert queue.get("one").answers[0].result == {}


def test_passages_are_shown_counted_and_corrected(queue: leaseq.Queue, manager_browser: Browser) -> None:
    lease = take_lease(filled(queue), "ann")
    queue.finish(lease, {"marks": [{**NAME, "text": "Ann"}, MOOD]})
    address = f"/manage/{queue.name}/items/one"
    page = manager_browser.get(address).text
    assert texts(page, ".records th")[:4] == ["Start", "End", "Label", "Words"]
    assert texts(page, ".records td")[:8] == ["0", "3", "name", "Ann", "7", "12", "mood", ""]
    form = manager_browser.get(f"{address}/correct", query_string={"token": lease.token}).text
    assert not elements(form, "#gone textarea[name]")  # the words are no answer of their own
    names = attributes(form, "table.rows :is(input, select)", "name")
    fields = dict.fromkeys(names, "") | {f"answer.marks.0.{name}": str(value) for name, value in MOOD.items()}
    manager_browser.post(f"{address}/correct", {"token": str(lease.token), **fields})
    assert queue.get("one").answers[0].result == {"marks": [{**MOOD, "text": "👩‍👩‍👧"}]}
    bars = manager_browser.get(f"/manage/{queue.name}/answers").text
    assert "mood" in text_of(element(bars, "main"))


def test_preview_and_warnings(queue: leaseq.Queue, manager_browser: Browser) -> None:
    fields = settings_fields(manager_browser, filled(queue))
    for show, widget, warning in (
        (["text"], "passages", ""),
        ([{"field": "text", "kind": "markdown"}], "passages", "only if it is shown, as text"),
        (["text"], "rating", "'rating' does not fit this question"),
        (["text"], "passage", "Did you mean 'passages'?"),
    ):
        ask = {"type": "object", "properties": {"marks": {**MARKS, "x-widget": widget}}}
        form = json.dumps({**FORM, "show": show, "ask": ask})
        preview = html.unescape(manager_browser.post(f"{base(queue)}/preview", {**fields, "form": form}).text)
        assert texts(preview, "#findings li") == [] if not warning else warning in preview
        assert attributes(preview, "[name='answer.marks.0.end']", "value") == ["3"]


def test_programs_send_passages_and_read_them_in_every_format(
    queue: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    filled(queue)
    assert worker("GET", f"/queues/{queue.name}").json["form"] == FORM
    lease = worker("POST", f"/queues/{queue.name}/reserve").json
    finish = f"/queues/{queue.name}/items/one/finish"
    for marks, where in (
        ([NAME, {**NAME, "end": 99}], "marks.1"),
        ([{**MOOD, "text": "other"}], "marks.0"),
        ([{**MOOD, "label": "other"}], "marks.0.label"),
    ):
        refused = worker("POST", finish, json={"token": lease["token"], "result": {"marks": marks}})
        assert refused.status_code == 422
        assert list(refused.json["errors"]) == [where]
    body = {"token": lease["token"], "result": {"marks": [NAME, MOOD, NAME]}}
    assert worker("POST", finish, json=body).status_code == 200
    answers = f"/queues/{queue.name}/answers"
    assert json.loads(manager("GET", f"{answers}?format=jsonl").text)["result"] == body["result"]
    (row,) = csv.DictReader(manager("GET", f"{answers}?format=csv").text.splitlines())
    assert json.loads(row["result.marks"]) == [NAME, MOOD, NAME]
