"""Files in an S3-compatible bucket: sent to it and got from it by signed requests."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import requests
from flask import Flask

import leaseq
from leaseq.webapp import create_app
from leaseq.webapp.context import EXTENSION
from leaseq.webapp.files.unused import unused_files
from leaseq.webapp.settings import Settings, SettingsRefused
from tests.support.buckets import open_bucket
from tests.support.leases import take as take_lease
from tests.support.ports import free_port
from tests.web.conftest import CHEAP_PASSWORDS, SECRET, Browser, Caller
from tests.web.elements import attributes
from tests.web.files.test_work import BYTES, ITEM, announce, api, asking
from tests.web.work_pages import path, send, take

PREFIX = "team/answers"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """An S3 store with the bucket ``files``."""
    with open_bucket("files") as url:
        yield url


def app_at(server: Any, endpoint: str) -> Flask:
    settings = Settings(
        redis_url=server.url, secret_key=SECRET, files=f"s3://files/{PREFIX}?endpoint={endpoint}"
    )
    return create_app(settings, passwords=CHEAP_PASSWORDS)


@pytest.fixture(scope="module")
def bucket_app(server: Any, endpoint: str) -> Flask:
    return app_at(server, endpoint)


def in_app(caller: Caller, app: Flask) -> Caller:
    """The same person, with another app on the same server."""
    return Caller(caller.name, caller.token, app.test_client())


def send_form(announced: Any, data: bytes) -> requests.Response:
    return requests.post(announced["url"], data=announced["fields"], files={"file": data}, timeout=20)


def test_file_is_sent_to_the_bucket_and_got_from_it(
    queue: leaseq.Queue, bucket_app: Flask, endpoint: str, worker: Caller
) -> None:
    worker = in_app(worker, bucket_app)
    lease = take_lease(asking(queue), worker.name)
    announced = announce(worker, queue, lease.token, name='Müller;".png').json
    fields = announced["fields"]
    assert announced["url"].startswith(endpoint)
    assert fields["key"] == f"{PREFIX}/{announced['file']['key']}"
    policy = json.loads(base64.b64decode(fields["policy"]))
    for condition in (
        ["content-length-range", len(BYTES), len(BYTES)],
        {"key": fields["key"]},
        {"Content-Type": "application/octet-stream"},
        {"Content-Disposition": "attachment"},
    ):
        assert condition in policy["conditions"]
    expires_at = datetime.fromisoformat(policy["expiration"])
    assert abs((expires_at - datetime.fromisoformat(announced["expires_at"])).total_seconds()) < 60

    result = {"token": lease.token, "result": {"photo": [announced["file"]]}}
    assert worker("POST", api(queue, "finish"), json=result).status_code == 422
    assert send_form(announced, BYTES[:-1]).status_code == 201  # this store does not read the policy
    assert worker("POST", api(queue, "finish"), json=result).status_code == 422  # but this app the size
    assert send_form(announced, BYTES).status_code == 201
    assert worker("POST", api(queue, "finish"), json=result).status_code == 200

    got = worker("GET", api(queue, "files", announced["file"]["key"].rpartition("/")[2]))
    assert got.status_code == 302
    assert got.headers["Cache-Control"] == "no-store"
    download = requests.get(got.location, timeout=20)
    assert download.content == BYTES
    assert download.headers["Content-Disposition"].startswith("attachment; filename")
    assert download.headers["Content-Type"] == "application/octet-stream"
    stranger = in_app(Caller("nobody", "no token", worker.client), bucket_app)
    assert stranger("GET", api(queue, "files", "a")).status_code == 401


def test_pages_that_ask_for_files_may_send_to_the_bucket_and_no_others(
    queue: leaseq.Queue, bucket_app: Flask, accounts: Any, new_name: Any, endpoint: str
) -> None:
    browser = Browser(bucket_app, new_name("worker"))
    browser.start_session(accounts.add(browser.name, by="test"))
    lease = take(asking(queue), browser)
    assert f"connect-src 'self' {endpoint};" in browser.get(path(queue)).headers["Content-Security-Policy"]
    assert endpoint not in browser.get("/").headers["Content-Security-Policy"]
    chosen = (io.BytesIO(BYTES), "a.png", "image/png")
    page = send(queue, browser, lease, "finish", **{"file.photo": chosen, "upload": "photo"}).text
    (file,) = attributes(page, ".file-list input", "value")
    send(queue, browser, lease, "finish", **{"answer.photo": file})
    assert queue.get(ITEM).answers[0].result == {"photo": [json.loads(file)]}


def test_unused_files_of_the_bucket_are_found_and_removed(
    queue: leaseq.Queue, server: Any, bucket_app: Flask, worker: Caller
) -> None:
    worker = in_app(worker, bucket_app)
    lease = take_lease(asking(queue), worker.name)
    kept, replaced = (announce(worker, queue, lease.token).json for _file in range(2))
    for announced in (kept, replaced):
        send_form(announced, BYTES)
    storage = bucket_app.extensions[EXTENSION].files.storage

    def unused() -> list[str]:
        found = unused_files(server.client, storage, datetime.now(UTC))
        return [file.key for file in found if file.key.startswith(f"{queue.name}/")]

    assert unused() == []  # a draft may name them
    result = {"token": lease.token, "result": {"photo": [kept["file"]]}}
    worker("POST", api(queue, "finish"), json=result)
    assert unused() == [replaced["file"]["key"]]
    storage.delete(replaced["file"]["key"])
    assert unused() == []
    queue.remove(ITEM)
    assert unused() == [kept["file"]["key"]]


def test_store_that_does_not_answer_is_said_and_nothing_is_lost(
    queue: leaseq.Queue, server: Any, bucket_app: Flask, worker: Caller
) -> None:
    worker = in_app(worker, bucket_app)
    lease = take_lease(asking(queue), worker.name)
    announced = announce(worker, queue, lease.token).json
    send_form(announced, BYTES)
    gone = in_app(worker, app_at(server, f"http://127.0.0.1:{free_port()}"))
    result = {"token": lease.token, "result": {"photo": [announced["file"]]}}
    refused = gone("POST", api(queue, "finish"), json=result)
    assert (refused.status_code, refused.json["values"]["what"]) == (503, "files")
    assert refused.headers["Retry-After"]
    assert queue.get(ITEM).state == "reserved"
    assert worker("POST", api(queue, "finish"), json=result).status_code == 200


def test_settings_that_name_no_bucket_are_refused(server: Any) -> None:
    for url in ("s3://", "s3://files?endpoint=nowhere", "s3://files?colour=red"):
        with pytest.raises(SettingsRefused, match="LEASEQ_FILES"):
            create_app(Settings(redis_url=server.url, secret_key=SECRET, files=url))
