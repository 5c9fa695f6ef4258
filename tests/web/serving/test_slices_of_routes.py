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

from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.threads import Threads
from tests.support.waiting import TIMEOUT
from tests.web.conftest import PASSWORD, SECRET
from tests.web.gunicorn_server import ADJUSTED_APP, run_gunicorn
from tests.web.serving.route_inputs import FORM_KIND, INPUTS, JSON, Input, World
from tests.web.serving.test_time_slices import MAX_SECONDS
from tests.web.slice_meter import PATH

LARGEST = {
    JSON: b'{"x": [' + b"[]," * 99_990 + b"1e1," * 440_000 + b"0]}",
    FORM_KIND: urlencode({f"field-{n}": "some words " * 70 for n in range(9_000)}).encode(),
}
"""The largest bodies that are read at all, which no route wants."""


class Client:
    """A browser of a person, and a program with their token."""

    def __init__(self, address: str, token: str) -> None:
        self._address, self._token = address, token
        self._cookie = self._csrf = ""

    def other(self) -> Client:
        return Client(self._address, self._token)

    def sign_in(self, name: str) -> None:
        self._cookie, self._csrf = "", ""
        page = self.send("GET", "/login", Input())[1]
        self._csrf = _csrf_of(page)
        fields = urlencode({"name": name, "password": PASSWORD}).encode()
        assert self.send("POST", "/login", Input(body=fields, kind=FORM_KIND))[0] == 303
        self._csrf = _csrf_of(self.send("GET", "/account", Input())[1])

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


@pytest.fixture(scope="module")
def world(server: Any, accounts: Accounts, threads: Threads) -> World:
    return World(server, accounts, threads)


@pytest.fixture(scope="module")
def client(server: Any, world: World) -> Iterator[Client]:
    with run_gunicorn(server.url, SECRET, workers=1, threads=8, app=ADJUSTED_APP, SLICES="1") as (url, _):
        client = Client(urlsplit(url).netloc, world.token)
        client.sign_in(world.admin)
        yield client


def calls_of(app: Flask) -> set[str]:
    return {
        f"{method} {rule.endpoint}"
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }


def test_table_has_all_routes(app: Flask) -> None:
    """A new route needs an input in route_inputs.py."""
    assert INPUTS.keys() == calls_of(app)


def send(
    world: World, client: Client, call: str, app: Flask, body: bytes | None = None
) -> tuple[int, str, Input]:
    """Send a route's input, or another body; returns the status, the text, and what was sent. A route of
    one's own account gets its own person, who may be signed out by it."""
    method, endpoint = call.split()
    if endpoint.startswith("auth."):
        client = client.other()
        client.sign_in(world.new_person(password=PASSWORD))
    input = INPUTS[call](world)
    if body is not None:
        input = replace(input, body=body, kind=kind_of(call))
    path = app.url_map.bind("localhost").build(endpoint, dict(input.values), method=method)
    client.longest_slice()
    status, text = client.send(method, path.partition("?")[0], input)
    return status, text, input


def kind_of(call: str) -> str:
    return JSON if " api." in call else FORM_KIND


@pytest.mark.parametrize("call", INPUTS)
def test_largest_input_lets_others_run(app: Flask, world: World, client: Client, call: str) -> None:
    """The first time is not measured: templates are compiled then, once in a process."""
    send(world, client, call, app)
    status, text, input = send(world, client, call, app)
    assert client.longest_slice() < MAX_SECONDS
    assert status in input.statuses, text


@pytest.mark.parametrize("call", [call for call in INPUTS if not call.startswith("GET")])
def test_largest_body_lets_others_run(app: Flask, world: World, client: Client, call: str) -> None:
    status, text, input = send(world, client, call, app, LARGEST[kind_of(call)])
    assert client.longest_slice() < MAX_SECONDS
    assert status in (*input.statuses, 400, 404, 409, 413, 415), text
