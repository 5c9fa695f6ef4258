"""The server goes away and comes back: 503 meanwhile, nothing typed is lost, and work goes on."""

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
from tests.faults.disk import disk
from tests.support.patience import eventually
from tests.support.taking import not_none
from tests.web.conftest import CHEAP, FORM, PASSWORD, SECRET, Browser


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    with EmbeddedServer(tmp_path_factory.mktemp("s")) as server:
        yield server


def test_work_goes_on_when_the_server_is_back(place: EmbeddedServer) -> None:
    app = create_app(Settings(redis_url=place.url, secret_key=SECRET), passwords=CHEAP)
    state = app.extensions["leaseq"]
    state.accounts.add("ann", by="test", password=PASSWORD)
    header = {"Authorization": f"Bearer {state.accounts.create_token('ann', 'test', by='test')}"}
    queue = leaseq.Queue(state.client, "triage")
    queue.configure(form=FORM)
    queue.enqueue({"text": "hello"}, id="one")
    person = Browser(app, "ann")
    person.sign_in()
    person.post("/q/triage/reserve")
    page = person.get("/q/triage").text
    fields = dict(re.findall(r'name="(csrf_token|token)" value="([^"]+)"', page))
    typed = {**fields, "answer.about": "refund", "answer.urgent": "true", "answer.note": 'so <far> "'}

    place.stop()
    program = app.test_client()
    for method, path in (
        ("GET", "/queues"),
        ("POST", "/queues/triage/reserve"),
        ("GET", "/queues/triage/mine"),
    ):
        answer = program.open(f"/api/v1{path}", method=method, headers=header)
        assert (answer.status_code, not_none(answer.json)["code"]) == (503, "server-unavailable")
        assert int(answer.headers["Retry-After"]) > 0
    assert program.get("/healthz").status_code == 200
    assert program.get("/readyz").status_code == 503
    assert program.get("/login").status_code == 200
    assert person.get("/q/triage").status_code == 503
    away = person.client.post("/q/triage/items/one/finish", data=typed)
    assert away.status_code == 503
    assert "What you typed is kept in this page" in away.text
    again = {
        name: html.unescape(value)
        for name, value in re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', away.text)
    }
    assert again["answer.note"] == 'so <far> "'
    forged = person.client.post("/q/triage/items/one/finish", data={**typed, "csrf_token": "forged"})
    assert "so &lt;far&gt;" not in forged.text
    secret = person.client.post("/login", data={**fields, "name": "ann", "password": PASSWORD})
    assert secret.status_code == 503
    assert PASSWORD not in secret.text

    place.start()
    assert program.get("/readyz").status_code == 200
    mine = program.get("/api/v1/queues/triage/mine", headers=header)
    assert not_none(mine.json)["leases"][0]["id"] == "one"
    assert person.client.post("/q/triage/items/one/finish", data=again).status_code == 303
    assert queue.get("one").answers[0].result["note"] == 'so <far> "'
    state.client.close()


def test_a_server_that_was_never_there(caplog: pytest.LogCaptureFixture) -> None:
    """Where it would be is told to the log, and to nobody who asks."""
    app = create_app(Settings(redis_url="redis://127.0.0.1:1", secret_key=SECRET), passwords=CHEAP)
    client = app.test_client()
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 503
    answer = client.get("/api/v1/queues", headers={"Authorization": "Bearer x"})
    assert (answer.status_code, not_none(answer.json)["code"]) == (503, "server-unavailable")
    form = re.search(r'name="csrf_token" value="([^"]+)"', client.get("/login").text)
    assert form is not None
    page = client.post("/login", data={"csrf_token": form[1], "name": "ann", "password": PASSWORD})
    assert page.status_code == 503
    assert "127.0.0.1:1" not in answer.text + page.text
    assert "127.0.0.1:1" in caplog.text


def test_what_the_server_took_but_nobody_confirmed_is_said() -> None:
    said = "the server made this change, but a replica did not confirm it"
    assert problem_of(leaseq.ServerUnavailable(said, taken=True)).detail == said


@pytest.mark.parametrize(
    ("cause", "cure"),
    [
        (("CONFIG", "SET", "maxmemory", "1"), ("CONFIG", "SET", "maxmemory", "0")),
        (("REPLICAOF", "127.0.0.1", "1"), ("REPLICAOF", "NO", "ONE")),
        (("CONFIG", "SET", "min-replicas-to-write", "1"), ("CONFIG", "SET", "min-replicas-to-write", "0")),
    ],
    ids=["no memory", "read-only", "no replica"],
)
def test_it_is_not_ready_where_the_server_reads_and_does_not_write(
    place: EmbeddedServer, cause: tuple[str, ...], cure: tuple[str, ...]
) -> None:
    app = create_app(Settings(redis_url=place.url, secret_key=SECRET), passwords=CHEAP)
    program = app.test_client()
    with redis.Redis.from_url(place.url) as server:
        assert program.get("/readyz").status_code == 200
        server.execute_command(*cause)
        assert program.get("/readyz").status_code == 503
        assert program.get("/healthz").status_code == 200
        server.execute_command(*cure)
        eventually(lambda: program.get("/readyz").status_code == 200, "it is ready again")
    app.extensions["leaseq"].client.close()


def test_it_is_not_ready_while_the_disk_is_full() -> None:
    """A server that refuses writes then; one with appendfsync always ends, and is away."""
    with disk() as full, full.watching(), EmbeddedServer(full.data, fsync="everysec") as server:
        app = create_app(Settings(redis_url=server.url, secret_key=SECRET), passwords=CHEAP)
        program = app.test_client()
        assert program.get("/readyz").status_code == 200
        full.give_room(0)
        eventually(lambda: program.get("/readyz").status_code == 503, "the first write that failed is seen")
        full.give_room()
        eventually(lambda: program.get("/readyz").status_code == 200, "it is ready again")
        app.extensions["leaseq"].client.close()
