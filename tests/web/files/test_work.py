"""Files as answers: announced, sent, named by an answer, and read again, by REST and on the pages."""

from __future__ import annotations

import io
from typing import Any
from urllib.parse import quote

import pytest

import leaseq
from tests.support.leases import take as take_lease
from tests.web.conftest import Browser, Caller
from tests.web.elements import attribute, attributes, elements, form_fields, texts
from tests.web.work_pages import path, send, take

FILE = {
    "type": "object",
    "required": ["key", "name", "size", "type"],
    "properties": {
        "key": {"type": "string"},
        "name": {"type": "string"},
        "size": {"type": "integer", "minimum": 1, "maximum": 1_000_000},
        "type": {"type": "string", "enum": ["image/png", "text/html"]},
    },
}
FORM: dict[str, Any] = {
    "show": ["text"],
    "ask": {
        "type": "object",
        "properties": {
            "photo": {"title": "Photo", "type": "array", "x-widget": "file", "maxItems": 2, "items": FILE},
            "note": {"type": "string"},
        },
        "required": ["photo"],
    },
}
BYTES = b"\x89PNG" + bytes(range(256)) * 300
ITEM = "a/b c"


def asking(queue: leaseq.Queue, **options: Any) -> leaseq.Queue:
    queue.configure(form=FORM, **options)
    queue.enqueue({"text": "a parcel"}, id=ITEM)
    return queue


def api(queue: leaseq.Queue, *parts: str, id: str = ITEM) -> str:
    return "/".join((f"/queues/{queue.name}/items/{quote(id, safe='')}", *parts))


def announce(caller: Caller, queue: leaseq.Queue, token: int, **fields: Any) -> Any:
    body = {"token": token, "question": "photo", "name": "a.png", "size": len(BYTES), "type": "image/png"}
    return caller("POST", api(queue, "files"), json=body | fields)


def upload(caller: Caller, queue: leaseq.Queue, token: int, data: bytes = BYTES, **fields: Any) -> Any:
    """Announce and send a file; returns what an answer says of it."""
    announced = announce(caller, queue, token, size=len(data), **fields).json
    sent = caller("PUT", announced["url"].removeprefix("/api/v1"), data=data)
    assert sent.status_code == 204, sent.text
    return announced["file"]


@pytest.mark.guard("file-arrived")
def test_program_sends_names_and_gets_a_file(queue: leaseq.Queue, worker: Caller, manager: Caller) -> None:
    lease = take_lease(asking(queue), worker.name)
    announced = announce(worker, queue, lease.token)
    assert announced.status_code == 201
    assert announced.json["fields"] == {}
    file = announced.json["file"]
    assert (file["name"], file["size"], file["type"]) == ("a.png", len(BYTES), "image/png")
    early = worker("POST", api(queue, "finish"), json={"token": lease.token, "result": {"photo": [file]}})
    assert early.status_code == 422
    assert "has not arrived" in early.json["errors"]["photo.0"]

    url = announced.json["url"].removeprefix("/api/v1")
    for _again in range(2):  # the first response may have been lost
        assert worker("PUT", url, data=BYTES).status_code == 204
    finish = {"token": lease.token, "result": {"photo": [file]}}
    assert worker("POST", api(queue, "finish"), json=finish).status_code == 200
    assert queue.get(ITEM).answers[0].result == {"photo": [file]}
    for caller in (worker, manager):
        got = caller("GET", api(queue, "files", file["key"].rpartition("/")[2]))
        assert got.data == BYTES
        assert got.headers["Content-Disposition"] == "attachment; filename=a.png"
        assert got.mimetype == "application/octet-stream"
        assert got.headers["X-Content-Type-Options"] == "nosniff"
        assert "sandbox" in got.headers["Content-Security-Policy"]


def test_item_with_own_form_is_asked_for_files_or_not(
    queue: leaseq.Queue, worker: Caller, worker_browser: Browser
) -> None:
    queue.configure(form=FORM, holds=3)
    plain = {
        "ask": {"type": "object", "properties": {"photo": {"type": "array", "items": {"type": "string"}}}}
    }
    queue.enqueue({"text": "a letter"}, id="plain", form=plain)
    token = take_lease(queue, worker.name).token
    finish: dict[str, Any] = {"token": token, "result": {"photo": ["none"]}}
    assert worker("POST", api(queue, "finish", id="plain"), json=finish).status_code == 200

    ask = {**FORM["ask"], "properties": {"scan": FORM["ask"]["properties"]["photo"]}, "required": ["scan"]}
    queue.enqueue({"text": "a parcel"}, id=ITEM, form={"ask": ask})
    lease = take_lease(queue, worker.name)
    made_up = {"key": f"{queue.name}/x/y", "name": "a.png", "size": 5, "type": "image/png"}
    refused = worker("POST", api(queue, "finish"), json={"token": lease.token, "result": {"scan": [made_up]}})
    assert refused.status_code == 422
    file = upload(worker, queue, lease.token, question="scan")
    finish = {"token": lease.token, "result": {"scan": [file]}}
    assert worker("POST", api(queue, "finish"), json=finish).status_code == 200

    queue.enqueue({"text": "a parcel"}, id="page", form={**FORM, "show": ["text"]})
    take(queue, worker_browser)
    page = worker_browser.get(path(queue)).text
    assert attributes(page, "noscript button", "formenctype") == ["multipart/form-data"]


def test_files_are_sent_left_out_and_finished_without_script(
    queue: leaseq.Queue, worker_browser: Browser
) -> None:
    lease = take(asking(queue), worker_browser)
    page = worker_browser.get(path(queue)).text
    assert attributes(page, "noscript button", "formenctype") == ["multipart/form-data"]
    fields: dict[str, Any] = {"answer.note": "typed"}
    refused = send(queue, worker_browser, lease, "finish", **fields, **{"file.photo": "a.png"})
    assert refused.status_code == 422
    assert "press Upload" in texts(refused.text, "#error-field-1")[0]
    for name, count in (("a.png", 1), ("b.png", 2)):
        chosen = (io.BytesIO(BYTES), name, "image/png")
        shown = send(
            queue,
            worker_browser,
            lease,
            "finish",
            **fields,
            **{"file.photo": chosen, "upload": "photo"},
        )
        assert shown.status_code == 200
        assert not elements(shown.text, "#errors")
        assert form_fields(shown.text, "answer")["answer.note"] == "typed"
        fields["answer.photo"] = attributes(shown.text, ".file-list input", "value")
        assert len(fields["answer.photo"]) == count
    page = worker_browser.get(path(queue)).text  # the draft has them
    assert texts(page, ".file-list [dir=auto]") == ["a.png", "b.png"]
    fields["answer.photo"] = fields["answer.photo"][1:]  # the first one is unticked
    send(queue, worker_browser, lease, "finish", **fields)
    (answer,) = queue.get(ITEM).answers
    assert [file["name"] for file in answer.result["photo"]] == ["b.png"]


def test_manager_sees_and_corrects_an_answer_with_files(
    queue: leaseq.Queue, worker: Caller, manager_browser: Browser
) -> None:
    lease = take_lease(asking(queue), worker.name)
    file = upload(worker, queue, lease.token, name="sofa <b>.png")
    finish = {"token": lease.token, "result": {"photo": [file]}}
    assert worker("POST", api(queue, "finish"), json=finish).status_code == 200
    address = f"/manage/{queue.name}/items/{quote(ITEM, safe='')}"
    for shown in (address, f"/manage/{queue.name}/peek/{quote(ITEM, safe='')}"):
        page = manager_browser.get(shown).text
        link = attribute(page, f"a[href$='{file['key'].rpartition('/')[2]}']", "href")
        assert "sofa &lt;b&gt;.png" in page
        assert manager_browser.get(link).data == BYTES
    correct = f"{address}/correct"
    form = manager_browser.get(correct, query_string={"token": lease.token}).text
    kept = attributes(form, ".file-list input", "value")
    chosen = (io.BytesIO(b"better"), "b.png", "image/png")
    fields: dict[str, Any] = {"token": str(lease.token), "answer.photo": kept}
    sent = manager_browser.post(correct, {**fields, "upload": "photo", "file.photo": chosen}).text
    both = attributes(sent, ".file-list input", "value")
    assert len(both) == 2
    saved = manager_browser.post(correct, {**fields, "answer.photo": both})
    assert saved.status_code == 303
    item = queue.get(ITEM)
    assert [photo["name"] for photo in item.answers[0].result["photo"]] == ["sofa <b>.png", "b.png"]
    assert item.late_answers[0].result == {"photo": [file]}


def test_reopened_answer_keeps_its_files(queue: leaseq.Queue, worker: Caller, manager: Caller) -> None:
    lease = take_lease(asking(queue), worker.name)
    file = upload(worker, queue, lease.token)
    finish = {"token": lease.token, "result": {"photo": [file]}}
    worker("POST", api(queue, "finish"), json=finish)
    reopen = {"token": lease.token, "to": worker.name}
    assert manager("POST", api(queue, "reopen"), json=reopen).status_code == 200
    again = take_lease(queue, worker.name)
    assert again.draft == {"photo": [file]}
    part = file["key"].rpartition("/")[2]
    assert worker("GET", api(queue, "files", part)).data == BYTES
    finish["token"] = again.token
    assert worker("POST", api(queue, "finish"), json=finish).status_code == 200


def test_exports_and_schema_contain_the_file(queue: leaseq.Queue, worker: Caller, manager: Caller) -> None:
    lease = take_lease(asking(queue), worker.name)
    file = upload(worker, queue, lease.token)
    worker("POST", api(queue, "finish"), json={"token": lease.token, "result": {"photo": [file]}})
    answers = manager("GET", f"/queues/{queue.name}/answers", query_string={"format": "json"}).json
    assert answers[0]["result"] == {"photo": [file]}
    table = manager("GET", f"/queues/{queue.name}/answers", query_string={"format": "csv"}).text
    assert file["key"] in table
    assert "a.png" in table
    policy = manager("GET", f"/queues/{queue.name}").json["policy"]
    assert policy["form"]["ask"]["properties"]["photo"]["items"] == FILE
