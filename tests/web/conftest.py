"""The app on the real server, and people who call it."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest
from argon2 import PasswordHasher
from argon2.profiles import CHEAPEST
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

import leaseq
from leaseq import webhooks
from leaseq.backup import StoredKeys
from leaseq.backup.stored_keys import registry
from leaseq.webapp import create_app
from leaseq.webapp.context import EXTENSION
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts import Accounts, Passwords
from leaseq.webapp.store.accounts.model import Person
from leaseq.webapp.store.threads import Threads
from tests.conftest import Clock
from tests.support.leases import not_none
from tests.support.receiver import Receiver, open_receiver
from tests.support.sessions import start_session

PASSWORD = "correct horse battery"
SECRET = "a secret for tests that is long enough"
CHEAP_PASSWORDS = Passwords(PasswordHasher.from_parameters(CHEAPEST))


@pytest.fixture(scope="session")
def server(server_of_pages: Any) -> Any:
    """The server, as the web app's user."""
    return server_of_pages


@pytest.fixture(scope="module", autouse=True)
def stored_keys(server: Any) -> Iterator[None]:
    """Check that each key that the app made is in the list of what a backup contains or leaves out."""
    yield
    stored = registry()
    for key in map(bytes.decode, server.redis.scan_iter("leaseq:{@*", count=10_000)):
        kind = stored.find(key)
        assert kind is not None, f"{key}: add it to the STORED of the module that spells it"
        types = {kind.type, "none"} if isinstance(kind, StoredKeys) else ()  # may have expired by now
        assert not types or server.redis.type(key).decode() in types, key


@pytest.fixture(scope="session")
def app(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Flask:
    files = str(tmp_path_factory.mktemp("files"))
    return create_app(
        Settings(redis_url=server.url, secret_key=SECRET, files=files), passwords=CHEAP_PASSWORDS
    )


@pytest.fixture(scope="session")
def accounts(app: Flask) -> Accounts:
    extension: Accounts = app.extensions["leaseq"].accounts
    return extension


@pytest.fixture(scope="session")
def threads(app: Flask) -> Threads:
    extension: Threads = app.extensions["leaseq"].threads
    return extension


@pytest.fixture(scope="session")
def document(app: Flask) -> dict[str, Any]:
    """The OpenAPI document."""
    content: dict[str, Any] = app.test_client().get("/api/v1/openapi.json").json or {}
    return content


@pytest.fixture
def filled_document(document: dict[str, Any]) -> dict[str, Any]:
    """The document with references replaced by the shared examples."""
    shared = document["components"]["examples"]
    reference = re.compile(r'\{"\$ref": "#/components/examples/([a-z-]+)"\}')
    filled_json = reference.sub(lambda match: json.dumps(shared[match[1]]), json.dumps(document))
    filled: dict[str, Any] = json.loads(filled_json)
    return filled


class Response(TestResponse):
    """The app's response. ``json`` is not optional: a test that reads it expects JSON."""

    json: Any


@dataclass
class Caller:
    """A client of REST with a token."""

    name: str
    token: str
    client: FlaskClient

    def __call__(self, method: str, path: str, **options: Any) -> Response:
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        return cast("Response", self.client.open(f"/api/v1{path}", method=method, headers=headers, **options))


@pytest.fixture
def new_name() -> Callable[[str], str]:
    return lambda role: f"{role}-{secrets.token_hex(4)}"


@pytest.fixture
def make_caller(app: Flask, accounts: Accounts, new_name: Callable[[str], str]) -> Callable[[str], Caller]:
    def make(role: str) -> Caller:
        name = new_name(role)
        accounts.add(name, by="test", role=role)
        return Caller(name, accounts.create_token(name, "test", by="test"), app.test_client())

    return make


@pytest.fixture
def worker(make_caller: Callable[[str], Caller]) -> Caller:
    return make_caller("worker")


@pytest.fixture
def manager(make_caller: Callable[[str], Caller]) -> Caller:
    return make_caller("manager")


@pytest.fixture
def admin(make_caller: Callable[[str], Caller]) -> Caller:
    return make_caller("admin")


@pytest.fixture(scope="module")
def _callers() -> dict[str, Caller]:
    return {}


@pytest.fixture
def call(app: Any, accounts: Any, _callers: dict[str, Caller]) -> Callable[..., Any]:
    """Call as a person with the role; there is one person per role."""

    def as_role(role: str, method: str, path: str, **options: Any) -> Any:
        if role not in _callers:
            name = f"table {role}"
            if accounts.find(name) is None:
                accounts.add(name, by="test", role=role)
            _callers[role] = Caller(name, accounts.create_token(name, "t", by="test"), app.test_client())
        return _callers[role](method, path, **options)

    return as_role


class Browser:
    """A client of the pages: keeps cookies, and sends forms with the session's CSRF token."""

    def __init__(self, app: Flask, name: str) -> None:
        self.client = app.test_client()
        self.name = name
        self._csrf = ""  # of a page of this session

    def get(self, path: str, **options: Any) -> Response:
        return self._keep_session(self.client.get(path, **options))

    def _keep_session(self, response: TestResponse) -> Response:
        if any(cookie.startswith("leaseq=") for cookie in response.headers.get_all("Set-Cookie")):
            self._csrf = ""  # another session, or none
        return cast("Response", response)

    def csrf(self, path: str = "/login") -> str:
        match = re.search(r'name="csrf_token" value="([^"]+)"', self.client.get(path).text)
        assert match, "the page has no form"
        self._csrf = match[1]
        return self._csrf

    def post(
        self, path: str, data: dict[str, Any] | None = None, *, page: str = "/account", **options: Any
    ) -> Response:
        fields = {"csrf_token": self._csrf or self.csrf(page), **(data or {})}
        return self._keep_session(self.client.post(path, data=fields, **options))

    def sign_in(self, password: str = PASSWORD, **fields: str) -> Response:
        return self.post("/login", {"name": self.name, "password": password, **fields}, page="/login")

    def start_session(self, person: Person) -> None:
        cookies, self._csrf = start_session(self.client.application, person)
        for name, value in cookies.items():
            self.client.set_cookie(name, value)


@pytest.fixture
def sign_in_as(app: Flask, accounts: Accounts, new_name: Callable[[str], str]) -> Callable[[str], Browser]:
    """The browser of a new person with this role, signed in."""

    def make(role: str) -> Browser:
        name = new_name(role)
        browser = Browser(app, name)
        browser.start_session(accounts.add(name, by="test", role=role, password=PASSWORD))
        return browser

    return make


@pytest.fixture
def manager_browser(sign_in_as: Callable[[str], Browser]) -> Browser:
    return sign_in_as("manager")


@pytest.fixture
def mixed_queue(queue: leaseq.Queue) -> leaseq.Queue:
    """Two dead, two held, two waiting, one finished."""
    queue.configure(title="Mixed", max_attempts=1, holds=9)
    for item_id, person, outcome in (
        ("dead-1", "ann", "no <text>"),
        ("dead-2", "bob", "page 404"),
        ("held-1", "ann", ""),
        ("held-2", "bob", ""),
        ("done-1", "ann", "done"),
    ):
        queue.enqueue({"of": person}, id=item_id)
        lease = not_none(queue.reserve(person))
        if outcome == "done":
            queue.finish(lease, {"ok": True})
        elif outcome:
            queue.fail(lease, outcome)
    queue.enqueue({}, id="wait-1", requires=["fr"])
    queue.enqueue({}, id="wait-2")
    return queue


@pytest.fixture
def worker_browser(sign_in_as: Callable[[str], Browser]) -> Browser:
    return sign_in_as("worker")


@pytest.fixture
def form_queue(queue: leaseq.Queue) -> leaseq.Queue:
    """A queue with a form and two items."""
    queue.configure(title="Triage", form=FORM, lease_seconds=60)
    queue.enqueue({"text": "My parcel is not here", "order": 12}, id="one")
    queue.enqueue({"text": "I want my money back", "order": 13}, id="two")
    return queue


@pytest.fixture
def expirable_queue(form_queue: leaseq.Queue, server: Any) -> tuple[leaseq.Queue, Callable[[], None]]:
    """The queue, and a function that expires its leases by setting its time a day ahead."""

    def expire() -> None:
        queue_ahead = leaseq.Queue(server.client, form_queue.name, clock=Clock.from_now(86_400))
        queue_ahead.enqueue({"text": "later"}, priority=150)

    return form_queue, expire


FORM = {
    "show": [{"field": "text", "kind": "text"}],
    "ask": {
        "type": "object",
        "required": ["about", "urgent"],
        "additionalProperties": False,
        "properties": {
            "about": {"title": "What is it about?", "enum": ["delivery", "refund", "other"]},
            "urgent": {"type": "boolean", "title": "Is it urgent?"},
            "tags": {"type": "array", "items": {"enum": ["angry", "polite", "unclear"]}},
            "count": {"type": "integer", "minimum": 0},
            "note": {"type": "string", "maxLength": 20},
        },
    },
}


@pytest.fixture
def receiver(app: Flask, server: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """A receiver of webhooks on this machine, to which the app is allowed to send."""
    state = app.extensions[EXTENSION]
    settings = state.settings.model_copy(update={"webhook_allow": webhooks.networks("127.0.0.0/8")})
    monkeypatch.setitem(app.extensions, EXTENSION, replace(state, settings=settings))
    with open_receiver(server.redis) as receiver:
        yield receiver
