"""No route keeps a web process from serving others for long, whatever it has to read or to show."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from flask import Flask

from leaseq.webapp.context import EXTENSION
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.threads import Threads
from tests.support.waiting import TIMEOUT
from tests.web.conftest import PASSWORD, SECRET
from tests.web.gunicorn_server import ADJUSTED_APP, run_gunicorn
from tests.web.serving.route_inputs import FORM_KIND, INPUTS, JSON, MORE, Input, Maker, World
from tests.web.slice_meter import MAX_SECONDS, PATH, shortest

LARGEST_JSON = b'{"x": [' + b"[]," * 99_990 + b"1e1," * 440_000 + b"0]}"
"""The largest object that is read at all, which no route wants."""

MORE_FIELDS = "&" + urlencode({f"field-{n}": "some words" for n in range(5_000)})
"""Added to each form, which is read as a whole though its page has no such fields."""

FIRST_START = {"GET auth.setup": 200, "POST auth.setup": 303}


class Client:
    """A browser of a person, and a program with their token."""

    def __init__(self, address: str, token: str) -> None:
        self._address, self._token = address, token
        self._cookie = self._csrf = ""

    def other(self) -> Client:
        return Client(self._address, self._token)

    def visit(self, path: str, query: str = "") -> None:
        """Get a page whose form is sent next."""
        status, page = self.send("GET", path, Input(query=query))
        assert status == 200, page
        self._csrf = _csrf_of(page)

    def sign_in(self, name: str, then: str) -> None:
        self.visit("/login")
        fields = urlencode({"name": name, "password": PASSWORD}).encode()
        assert self.send("POST", "/login", Input(body=fields, kind=FORM_KIND))[0] == 303
        self.visit(then)

    def send(self, method: str, path: str, input: Input) -> tuple[int, str]:
        """The status and the text; 401 also for a page that is only a redirect to the sign-in."""
        headers = {"Content-Type": input.kind} if input.kind else {}
        by_token = path.startswith("/api/") or path == "/metrics"
        if by_token:
            headers["Authorization"] = f"Bearer {self._token}"
        else:
            headers |= {"Cookie": self._cookie, "X-CSRFToken": self._csrf}
        connection = http.client.HTTPConnection(self._address, timeout=TIMEOUT)
        connection.request(method, f"{path}?{input.query}", input.body, headers)
        response = connection.getresponse()
        text = (response.read1(65_536) if input.is_stream else response.read()).decode(errors="replace")
        for cookie in response.headers.get_all("Set-Cookie", []):
            if cookie.startswith("leaseq=") and not by_token:
                self._cookie = cookie.partition(";")[0]
        connection.close()
        is_refused = response.headers.get("Location", "").startswith("/login?next=")
        return 401 if is_refused else response.status, text

    def longest_slice(self) -> float:
        """Since the last call."""
        seconds: float = json.loads(self.send("GET", PATH, Input())[1])
        return seconds


def _csrf_of(page: str) -> str:
    match = re.search(r'name="csrf_token" value="([^"]+)"', page)
    assert match, page
    return match[1]


ADMIN = "the first admin"


@pytest.fixture(scope="module")
def address(server: Any, app: Flask) -> Iterator[str]:
    settings = {"SLICES": "1", "LEASEQ_FILES": app.extensions[EXTENSION].settings.files}  # the same files
    with run_gunicorn(server.url, SECRET, workers=1, threads=8, app=ADJUSTED_APP, **settings) as (url, _):
        yield urlsplit(url).netloc


@pytest.fixture(scope="module")
def first_start(address: str, accounts: Accounts) -> dict[str, tuple[int, float]]:
    """The status and the longest slice of the page for the first admin, and of its form."""
    client, query = Client(address, ""), f"token={accounts.setup_token()}"
    fields = urlencode({"name": ADMIN, "new_password": PASSWORD, "again": PASSWORD}) + MORE_FIELDS
    client.visit("/setup", query)
    measured = {}
    for call in FIRST_START:
        client.longest_slice()
        body = fields.encode() if call.startswith("POST") else None
        status, _ = client.send(call.split()[0], "/setup", Input(query=query, body=body, kind=FORM_KIND))
        measured[call] = status, client.longest_slice()
    return measured


@pytest.fixture(scope="module")
def world(
    app: Flask,
    server: Any,
    accounts: Accounts,
    threads: Threads,
    first_start: object,  # which makes the admin
) -> World:
    return World(app, server, accounts, threads, ADMIN)


@pytest.fixture(scope="module")
def client(address: str, world: World) -> Client:
    client = Client(address, world.token)
    client.sign_in(ADMIN, "/account")
    return client


def calls_of(app: Flask) -> set[str]:
    return {
        f"{method} {rule.endpoint}"
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }


def test_table_has_all_routes(app: Flask) -> None:
    """A new route needs an input in route_inputs.py."""
    assert INPUTS.keys() | FIRST_START.keys() == calls_of(app)


@pytest.mark.parametrize("call", FIRST_START)
def test_first_start_lets_others_run(first_start: dict[str, tuple[int, float]], call: str) -> None:
    status, seconds = first_start[call]
    assert status == FIRST_START[call]
    assert seconds < MAX_SECONDS


@pytest.mark.parametrize(
    ("call", "make"), [pytest.param(call, make, id=call) for call, make in (*INPUTS.items(), *MORE)]
)
def test_largest_input_lets_others_run(
    app: Flask, world: World, client: Client, call: str, make: Maker
) -> None:
    method, endpoint = call.split()

    def attempt() -> float:
        input, sender = make(world), client
        if input.person is not None:
            sender = client.other()
            then = "/login/code" if endpoint == "auth.code" else "/account"
            sender.sign_in(input.person, then) if input.person else sender.visit("/login")
        if method == "GET":
            input = replace(input, body=None)
        elif input.kind == FORM_KIND:
            input = replace(input, body=(input.body or b"") + MORE_FIELDS.encode())
        path = app.url_map.bind("localhost").build(endpoint, dict(input.values), method=method)
        client.longest_slice()
        status, text = sender.send(method, path.partition("?")[0], input)
        seconds = client.longest_slice()
        assert status in input.statuses, text
        return seconds

    assert shortest(attempt) < MAX_SECONDS


@pytest.mark.parametrize("call", ["POST api.finish", "POST api.enqueue", "PUT api.put_queue"])
def test_largest_json_lets_others_run(app: Flask, world: World, client: Client, call: str) -> None:
    """All other calls read their bodies in the same way."""
    method, endpoint = call.split()
    path = app.url_map.bind("localhost").build(endpoint, dict(INPUTS[call](world).values), method=method)

    def attempt() -> float:
        client.longest_slice()
        status, text = client.send(method, path, Input(body=LARGEST_JSON, kind=JSON))
        assert status == 400, text
        return client.longest_slice()

    assert shortest(attempt) < MAX_SECONDS
