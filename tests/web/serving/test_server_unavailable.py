"""The server is unavailable for a time: responses are 503, typed input is kept, and work continues later."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import pytest
import redis

import leaseq
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp import create_app
from leaseq.webapp.errors import problem_of
from leaseq.webapp.settings import Settings
from tests.faults.disk import empty_disk
from tests.support.leases import not_none
from tests.support.waiting import eventually
from tests.web.conftest import CHEAP_PASSWORDS, FORM, PASSWORD, SECRET, Browser


@pytest.fixture
def embedded_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    with EmbeddedServer(tmp_path_factory.mktemp("s")) as server:
        yield server


def test_work_continues_after_server_outage(embedded_server: EmbeddedServer) -> None:
    app = create_app(Settings(redis_url=embedded_server.url, secret_key=SECRET), passwords=CHEAP_PASSWORDS)
    state = app.extensions["leaseq"]
    state.accounts.add("ann", by="test", password=PASSWORD)
    headers = {"Authorization": f"Bearer {state.accounts.create_token('ann', 'test', by='test')}"}
    queue = leaseq.Queue(state.client, "triage")
    queue.configure(form=FORM)
    queue.enqueue({"text": "hello"}, id="one")
    browser = Browser(app, "ann")
    browser.sign_in()
    browser.post("/q/triage/reserve")
    page = browser.get("/q/triage").text
    fields = dict(re.findall(r'name="(csrf_token|token)" value="([^"]+)"', page))
    input_fields = {**fields, "answer.about": "refund", "answer.urgent": "true", "answer.note": 'so <far> "'}

    embedded_server.stop()
    client = app.test_client()
    for method, path in (
        ("GET", "/queues"),
        ("POST", "/queues/triage/reserve"),
        ("GET", "/queues/triage/mine"),
    ):
        response = client.open(f"/api/v1{path}", method=method, headers=headers)
        assert (response.status_code, not_none(response.json)["code"]) == (503, "server-unavailable")
        assert int(response.headers["Retry-After"]) > 0
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 503
    assert client.get("/login").status_code == 200
    assert browser.get("/q/triage").status_code == 503
    outage_response = browser.client.post("/q/triage/items/one/finish", data=input_fields)
    assert outage_response.status_code == 503
    assert "What you typed is kept in this page" in outage_response.text
    resent_fields = {
        name: html.unescape(value)
        for name, value in re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', outage_response.text)
    }
    assert resent_fields["answer.note"] == 'so <far> "'
    forged_response = browser.client.post(
        "/q/triage/items/one/finish", data={**input_fields, "csrf_token": "forged"}
    )
    assert "so &lt;far&gt;" not in forged_response.text
    login_response = browser.client.post("/login", data={**fields, "name": "ann", "password": PASSWORD})
    assert login_response.status_code == 503
    assert PASSWORD not in login_response.text

    embedded_server.start()
    assert client.get("/readyz").status_code == 200
    mine_response = client.get("/api/v1/queues/triage/mine", headers=headers)
    assert not_none(mine_response.json)["leases"][0]["id"] == "one"
    assert browser.client.post("/q/triage/items/one/finish", data=resent_fields).status_code == 303
    assert queue.get("one").answers[0].result["note"] == 'so <far> "'
    assert state.activity.today("ann", "triage").finished == 1
    state.client.close()


def test_unreachable_server_is_503_without_its_address(caplog: pytest.LogCaptureFixture) -> None:
    """Its address is only in the log, not in responses."""
    app = create_app(Settings(redis_url="redis://127.0.0.1:1", secret_key=SECRET), passwords=CHEAP_PASSWORDS)
    client = app.test_client()
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 503
    response = client.get("/api/v1/queues", headers={"Authorization": "Bearer x"})
    assert (response.status_code, not_none(response.json)["code"]) == (503, "server-unavailable")
    csrf_match = re.search(r'name="csrf_token" value="([^"]+)"', client.get("/login").text)
    assert csrf_match is not None
    page = client.post("/login", data={"csrf_token": csrf_match[1], "name": "ann", "password": PASSWORD})
    assert page.status_code == 503
    assert "127.0.0.1:1" not in response.text + page.text
    assert "127.0.0.1:1" in caplog.text


def test_unconfirmed_change_is_reported() -> None:
    error = leaseq.ServerUnavailable("unconfirmed", what="replica", seconds=1, taken=True)
    assert problem_of(error).rule == "unconfirmed"


@pytest.mark.parametrize(
    ("break_command", "repair_command"),
    [
        (("CONFIG", "SET", "maxmemory", "1"), ("CONFIG", "SET", "maxmemory", "0")),
        (("REPLICAOF", "127.0.0.1", "1"), ("REPLICAOF", "NO", "ONE")),
        (("CONFIG", "SET", "min-replicas-to-write", "1"), ("CONFIG", "SET", "min-replicas-to-write", "0")),
    ],
    ids=["no memory", "read-only", "no replica"],
)
def test_readiness_fails_while_server_refuses_writes(
    embedded_server: EmbeddedServer, break_command: tuple[str, ...], repair_command: tuple[str, ...]
) -> None:
    app = create_app(Settings(redis_url=embedded_server.url, secret_key=SECRET), passwords=CHEAP_PASSWORDS)
    client = app.test_client()
    with redis.Redis.from_url(embedded_server.url) as server:
        assert client.get("/readyz").status_code == 200
        server.execute_command(*break_command)
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200
        server.execute_command(*repair_command)
        eventually(lambda: client.get("/readyz").status_code == 200, "it is ready again")
    app.extensions["leaseq"].client.close()


def test_readiness_fails_while_disk_is_full() -> None:
    """With appendfsync everysec the server then refuses writes; with always it would exit."""
    with empty_disk() as disk, disk.attach(), EmbeddedServer(disk.data, fsync="everysec") as server:
        app = create_app(Settings(redis_url=server.url, secret_key=SECRET), passwords=CHEAP_PASSWORDS)
        client = app.test_client()
        assert client.get("/readyz").status_code == 200
        disk.give_room(0)
        eventually(lambda: client.get("/readyz").status_code == 503, "the first failed write is noticed")
        disk.give_room()
        eventually(lambda: client.get("/readyz").status_code == 200, "it is ready again")
        app.extensions["leaseq"].client.close()
