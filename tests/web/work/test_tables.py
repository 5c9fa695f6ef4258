"""A table with rows without the page's script, on the manager's pages, and in REST and exports."""

from __future__ import annotations

import csv
import json
from typing import Any

import leaseq
from tests.support.leases import take as take_lease
from tests.web.conftest import Browser, Caller
from tests.web.elements import attributes, elements, form_fields, texts
from tests.web.manage.settings_calls import base, settings_fields
from tests.web.work_pages import path, send, take

ITEM = {
    "type": "object",
    "properties": {"article": {"title": "Article", "type": "string"}, "pieces": {"type": "integer"}},
    "required": ["article"],
}
FORM: dict[str, Any] = {
    "show": ["text"],
    "ask": {
        "type": "object",
        "properties": {"orders": {"title": "Orders", "type": "array", "maxItems": 200, "items": ITEM}},
    },
    "prefill": {"orders": "guess"},
}
GUESS = [{"article": "Filter", "pieces": 2}, {"article": "Mug <b>"}]


def filled(queue: leaseq.Queue) -> leaseq.Queue:
    queue.configure(form=FORM)
    queue.enqueue({"text": "an order", "guess": GUESS}, id="one")
    return queue


def test_rows_are_filled_in_added_and_finished_without_script(
    queue: leaseq.Queue, worker_browser: Browser
) -> None:
    lease = take(filled(queue), worker_browser)
    page = worker_browser.get(path(queue)).text
    fields = form_fields(page, "answer")
    assert (fields["answer.orders.1.article"], fields["answer.orders.0.pieces"]) == ("Mug <b>", "2")
    assert fields["answer.orders.2.article"] == ""
    fields = {**fields, "answer.orders.2.article": "Spoon", "answer.orders.0.pieces": "many"}
    response = send(queue, worker_browser, lease, "finish", **fields, more_rows="orders")
    assert response.status_code == 200
    shown = form_fields(response.text, "answer")
    assert [shown[f"answer.orders.{row}.article"] for row in range(8)] == [
        "Filter",
        "Mug <b>",
        "Spoon",
        *[""] * 5,
    ]
    assert shown["answer.orders.0.pieces"] == "many"
    assert not elements(response.text, "#errors")
    assert queue.get("one").answers == ()
    fields = form_fields(worker_browser.get(path(queue)).text, "answer")  # they are in the draft as well
    assert fields["answer.orders.2.article"] == "Spoon"

    refused = send(queue, worker_browser, lease, "finish", **fields)
    assert refused.status_code == 422
    assert "Row 1, Pieces" in texts(refused.text, "#errors li")[0]
    send(queue, worker_browser, lease, "finish", **{**fields, "answer.orders.0.pieces": "3"})
    (answer,) = queue.get("one").answers
    assert answer.result == {"orders": [{"article": "Filter", "pieces": 3}, GUESS[1], {"article": "Spoon"}]}


def test_rows_are_shown_and_corrected_by_a_manager(queue: leaseq.Queue, manager_browser: Browser) -> None:
    lease = take_lease(filled(queue), "ann")
    queue.finish(lease, {"orders": GUESS})
    token = lease.token
    address = f"/manage/{queue.name}/items/one"
    page = manager_browser.get(address).text
    assert texts(page, ".records th") == ["Article", "Pieces"]
    assert texts(page, ".records td") == ["Filter", "2", "Mug <b>", ""]
    form = manager_browser.get(f"{address}/correct", query_string={"token": token}).text
    names = attributes(form, "table.rows input", "name")
    fields = dict.fromkeys(names, "") | {"answer.orders.0.article": "Cup"}
    more = manager_browser.post(f"{address}/correct", {"token": str(token), **fields, "more_rows": "orders"})
    assert attributes(more.text, "[name='answer.orders.0.article']", "value") == ["Cup"]
    assert len(attributes(more.text, "table.rows input", "name")) > len(names)
    assert manager_browser.post(f"{address}/correct", {"token": str(token), **fields}).location == address
    assert queue.get("one").answers[0].result == {"orders": [{"article": "Cup"}]}
    assert "1 answered" in manager_browser.get(f"/manage/{queue.name}/answers").text


def test_preview_shows_the_rows_of_the_example(queue: leaseq.Queue, manager_browser: Browser) -> None:
    fields = settings_fields(manager_browser, filled(queue))
    preview = manager_browser.post(f"{base(queue)}/preview", fields).text
    assert attributes(preview, "[name='answer.orders.1.article']", "value") == ["Mug <b>"]
    assert not elements(preview, "#findings li, #findings p")


def test_programs_send_rows_and_read_them_in_every_format(
    queue: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    filled(queue)
    form = worker("GET", f"/queues/{queue.name}").json["form"]
    assert form == FORM
    lease = worker("POST", f"/queues/{queue.name}/reserve").json
    finish = f"/queues/{queue.name}/items/one/finish"
    for orders, where in (
        ([{"article": "a"}] * 201, "orders"),
        ([{"article": "a"}, {"article": 1}], "orders.1.article"),
        ([{"pieces": 1}], "orders.0"),
        ("a", "orders"),
    ):
        refused = worker("POST", finish, json={"token": lease["token"], "result": {"orders": orders}})
        assert refused.status_code == 422
        assert list(refused.json["errors"]) == [where]
    body = {"token": lease["token"], "result": {"orders": GUESS}}
    assert worker("POST", finish, json=body).status_code == 200
    answers = f"/queues/{queue.name}/answers"
    assert json.loads(manager("GET", f"{answers}?format=jsonl").text)["result"] == {"orders": GUESS}
    (row,) = csv.DictReader(manager("GET", f"{answers}?format=csv").text.splitlines())
    assert json.loads(row["result.orders"]) == GUESS
