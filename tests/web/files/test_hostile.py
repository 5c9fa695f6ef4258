"""What must not be sent, named or seen: names, sizes, kinds, other people's files, and storage that fails."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.context import EXTENSION
from leaseq.webapp.files import storage
from leaseq.webapp.files.keys import ANY_TYPE, TICKET_SECONDS, FileKeys, Place, clean_name, clean_type
from tests.support.leases import take as take_lease
from tests.web.conftest import SECRET, Browser, Caller
from tests.web.elements import elements, texts
from tests.web.files.test_work import BYTES, ITEM, announce, api, asking, upload
from tests.web.work_pages import path, send, take


def finish(caller: Caller, queue: leaseq.Queue, token: int, *files: Any, id: str = ITEM) -> Any:
    return caller("POST", api(queue, "finish", id=id), json={"token": token, "result": {"photo": [*files]}})


def test_names_and_types_are_made_harmless() -> None:
    names = {
        "../../etc/passwd": "passwd",
        "C:\\photos\\a.png": "a.png",
        "a\0b\r\n.png": "ab.png",
        "photo\u202egnp.exe": "photognp.exe",  # would be shown as photoexe.png
        "  .hidden. ": "hidden",
        "x" * 300 + ".png": "x" * 116 + ".png",
        "." * 300: "file",
        "a." + "b" * 300: ("a." + "b" * 300)[:120],
        "": "file",
        "/": "file",
        "\ud800.png": ".png".strip("."),
        "Müller 👩‍👩‍👧.png": "Müller 👩👩👧.png",
        '"; filename=evil.html': '"; filename=evil.html',
    }
    for name, expected in names.items():
        assert clean_name(name) == expected, repr(name)
    types = {
        ("image/PNG; charset=x", "a.png"): "image/png",
        ("text/html\r\nSet-Cookie: a=b", "a.png"): "image/png",
        ("", "a.pdf"): "application/pdf",
        ("nothing", "a.unknown"): ANY_TYPE,
    }
    for (type, name), expected in types.items():
        assert clean_type(type, name) == expected, type


def test_only_what_the_form_asks_for_is_announced(
    queue: leaseq.Queue, worker: Caller, make_caller: Any
) -> None:
    lease = take_lease(asking(queue), worker.name)
    refused: dict[tuple[str, str | None], dict[str, Any]] = {
        ("size", "bytes"): {"size": 1_000_001},
        ("type", "kind"): {"type": "image/svg+xml", "name": "a.svg"},
        ("question", "question"): {"question": "note"},
        ("size", None): {"size": 0},
    }
    for (field, what), fields in refused.items():
        response = announce(worker, queue, lease.token, **fields)
        assert (response.status_code, response.json["field"]) == (400, field), fields
        assert what in (None, response.json["values"].get("what")), fields
    stranger = make_caller("worker")
    assert announce(stranger, queue, lease.token).status_code == 404
    assert announce(worker, queue, lease.token + 1).status_code == 404


@pytest.mark.guard("file-own")
def test_answer_names_only_own_files_of_this_item_and_question(
    queue: leaseq.Queue, worker: Caller, make_caller: Any
) -> None:
    asking(queue, answers=2, holds=3)
    queue.enqueue({"text": "another"}, id="other")
    mine = take_lease(queue, worker.name)
    others_item = take_lease(queue, worker.name)
    colleague = make_caller("worker")
    theirs = take_lease(queue, colleague.name)
    assert (mine.id, others_item.id, theirs.id) == (ITEM, "other", ITEM)
    file = upload(worker, queue, mine.token)
    foreign = upload(colleague, queue, theirs.token)
    place = Place(queue.name, ITEM, "another question", worker.name)
    keys = FileKeys(SECRET)
    other_question = keys.new_file(place, "a.png", len(BYTES), "image/png").to_json()
    other_queue = keys.new_file(
        place._replace(queue="q", question="photo"), "a.png", 9, "image/png"
    ).to_json()
    other_secret = FileKeys("another secret").new_file(
        place._replace(question="photo"), "a.png", len(BYTES), "image/png"
    )
    bad = {
        "a colleague's": foreign,
        "renamed": {**file, "name": "b.png"},
        "of another type": {**file, "type": "text/html"},
        "of another size": {**file, "size": 5},
        "of another question": other_question,
        "of another queue": other_queue,
        "signed by another app": other_secret.to_json(),
        "a path": {**file, "key": "../../../etc/passwd"},
        "with a path in it": {**file, "key": file["key"].replace("/", "/../", 1)},
        "with a null byte": {**file, "key": file["key"] + "\0"},
    }
    for why, value in bad.items():
        response = finish(worker, queue, mine.token, value)
        assert response.status_code == 422, why
        assert set(response.json["errors"]) == {"photo.0"}, why
    assert finish(worker, queue, mine.token, file, foreign).json["errors"].keys() == {"photo.1"}
    assert finish(worker, queue, mine.token, *[file] * 100).json["errors"].keys() == {"photo"}
    assert finish(worker, queue, others_item.token, file, id="other").status_code == 422
    assert queue.get(ITEM).answers == ()
    assert finish(worker, queue, mine.token, file).status_code == 200


def test_form_that_asks_for_files_since_just_now_is_obeyed(queue: leaseq.Queue, worker: Caller) -> None:
    """A process knows a form for a second after it was changed."""
    queue.enqueue({"text": "a parcel"}, id=ITEM)
    lease = take_lease(queue, worker.name)
    worker("POST", api(queue, "finish"), json={"token": lease.token + 1, "result": {}})  # reads the form
    asking(queue)
    forged = {
        "key": f"{queue.name}/{'0' * 32}/{'a' * 16}.{'b' * 43}",
        "name": "a",
        "size": 1,
        "type": "image/png",
    }
    assert finish(worker, queue, lease.token, forged).status_code == 422


def altered(url: str) -> str:
    """The address with its signature's first character changed; the last one has bits that say nothing."""
    start, signature = url.rsplit(".", 1)
    return f"{start}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}"


@pytest.mark.guard("file-ticket")
def test_upload_is_bound_to_its_person_size_and_time(
    queue: leaseq.Queue, worker: Caller, make_caller: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = take_lease(asking(queue), worker.name)
    announced = announce(worker, queue, lease.token).json
    url = announced["url"].removeprefix("/api/v1")
    colleague = make_caller("worker")
    refused = {
        "too long": (worker, url, BYTES + b"x"),
        "too short": (worker, url, BYTES[:-1]),
        "nothing": (worker, url, b""),
        "somebody else": (colleague, url, BYTES),
        "altered": (worker, altered(url), BYTES),
        "another key": (worker, url.replace("/files/", "/files/A", 1), BYTES),
        "another item": (worker, url.replace("a%2Fb%20c", "other"), BYTES),
    }
    for why, (caller, address, data) in refused.items():
        assert caller("PUT", address, data=data).status_code == 400, why
    assert finish(worker, queue, lease.token, announced["file"]).status_code == 422  # none has arrived
    now = time.time()
    monkeypatch.setattr("itsdangerous.timed.time.time", lambda: now + TICKET_SECONDS + 2)
    late = worker("PUT", url, data=BYTES)
    assert (late.status_code, late.json["values"]["what"]) == (400, "expired")
    monkeypatch.undo()
    assert worker("PUT", url, data=BYTES).status_code == 204


@pytest.mark.guard("file-readers", "file-drafts", "file-plain")
def test_files_are_seen_only_by_those_who_see_the_answer(
    queue: leaseq.Queue, app: Flask, worker: Caller, manager: Caller, make_caller: Any
) -> None:
    lease = take_lease(asking(queue, answers=2), worker.name)
    file = upload(worker, queue, lease.token, b"<svg onload=alert(1)>", name="a.html", type="text/html")
    part = file["key"].rpartition("/")[2]
    address = api(queue, "files", part)
    assert worker("GET", address).status_code == 404  # neither in an answer nor in the draft
    draft = {"token": lease.token, "draft": {"photo": [file]}}
    assert worker("PUT", api(queue, "draft"), json=draft).status_code == 204
    assert worker("GET", address).data
    colleague = make_caller("worker")
    theirs = {"token": take_lease(queue, colleague.name).token, "draft": {"photo": [file]}}
    assert colleague("PUT", api(queue, "draft"), json=theirs).status_code == 204
    assert colleague("GET", address).status_code == 404
    assert manager("GET", address).status_code == 404  # a draft is its writer's
    assert finish(worker, queue, lease.token, file).status_code == 200
    for caller, status in ((worker, 200), (manager, 200), (colleague, 404)):
        response = caller("GET", address)
        assert response.data  # a stream, or a problem
        assert response.status_code == status
    response = manager("GET", address)
    assert response.data == b"<svg onload=alert(1)>"
    assert response.mimetype == ANY_TYPE
    assert response.headers["Content-Disposition"].startswith("attachment;")
    assert app.test_client().get(f"/q/{queue.name}/items/a%2Fb%20c/files/{part}").status_code == 303
    queue.remove(ITEM)
    assert manager("GET", address).status_code == 404


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def fail(*_arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(storage, "_copy", fail)
        yield


@pytest.mark.usefixtures("full_disk")
def test_full_disk_is_said_and_leaves_nothing(
    queue: leaseq.Queue, app: Flask, worker: Caller, worker_browser: Browser
) -> None:
    lease = take_lease(asking(queue), worker.name)
    announced = announce(worker, queue, lease.token).json
    response = worker("PUT", announced["url"].removeprefix("/api/v1"), data=BYTES)
    assert (response.status_code, response.json["values"]["what"]) == (503, "no_room")
    root: Path = app.extensions[EXTENSION].files.storage._root
    assert not list((root / storage._PARTS).iterdir())


def test_site_without_files_says_so(
    queue: leaseq.Queue, app: Flask, worker: Caller, worker_browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = app.extensions[EXTENSION]
    monkeypatch.setitem(app.extensions, EXTENSION, replace(parts, files=None))
    lease = take(asking(queue), worker_browser)
    page = worker_browser.get(path(queue)).text
    assert not elements(page, ".files input[type=file]")
    assert "keeps none" in texts(page, ".files .warning")[0]
    assert send(queue, worker_browser, lease, "finish").status_code == 422
    queue.enqueue({"text": "another"}, id="other")
    other = take_lease(queue, worker.name)
    response = worker(
        "POST",
        api(queue, "files", id="other"),
        json={"token": other.token, "question": "photo", "name": "a.png", "size": 5, "type": "image/png"},
    )
    assert response.json["values"]["what"] == "nowhere"
