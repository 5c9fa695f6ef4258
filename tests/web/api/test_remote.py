"""`leaseq.remote.Asker` against a real app: the same calls as the library's, over REST."""

from __future__ import annotations

import http.server
import math
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import leaseq
from leaseq.remote import Asker
from leaseq.webapp.store.accounts import Accounts
from tests.support.bad_questions import BAD_QUESTIONS
from tests.support.waiting import eventually
from tests.web.conftest import SECRET
from tests.web.gunicorn_server import serve_app

FORM = {"ask": {"type": "object", "properties": {"refund": {"enum": ["yes", "no"]}}, "required": ["refund"]}}
YES = {"refund": "yes"}


@pytest.fixture(scope="module")
def app_url(server: Any) -> Iterator[str]:
    with serve_app(server.url, SECRET) as url:
        yield url


@pytest.fixture
def token(accounts: Accounts, new_name: Callable[[str], str]) -> str:
    name = new_name("manager")
    accounts.add(name, by="test", role="manager")
    return accounts.create_token(name, "ask", by="test", scope="ask")


@pytest.fixture
def asker(app_url: str, token: str) -> Asker:
    return Asker(app_url, token)


@pytest.fixture
def refunds(queue: leaseq.Queue) -> leaseq.Queue:
    queue.configure()
    return queue


def answer(queue: leaseq.Queue, result: leaseq.Json) -> None:
    lease = queue.reserve("ann", wait=30)
    assert lease is not None
    queue.finish(lease, result)


def test_question_is_answered(refunds: leaseq.Queue, asker: Asker) -> None:
    with ThreadPoolExecutor(2) as pool:
        options: dict[str, Any] = {"id": "r/1 ü", "form": FORM, "timeout": 60, "priority": 5}
        first = pool.submit(asker.ask, refunds.name, {"text": "Refund 80?"}, **options)
        answer(refunds, YES)
        answered = first.result(20)
    assert (answered.id, answered.result, answered.how, answered.late) == ("r/1 ü", YES, "single", False)
    (given,), (expected,) = answered.answers, refunds.get("r/1 ü").answers
    assert replace(given, finished_at=expected.finished_at, reserved_at=expected.reserved_at) == expected
    assert abs(given.finished_at - expected.finished_at) < timedelta(milliseconds=1)
    assert asker.ask(refunds.name, {"text": "Refund 80?"}, **options) == answered
    assert asker.wait_for(refunds.name, "r/1 ü", timeout=0) == answered
    with pytest.raises(leaseq.Invalid) as conflict:
        asker.ask(refunds.name, "other", **options)
    assert (conflict.value.field, conflict.value.rule) == ("id", "question")


def test_nobody_answers(refunds: leaseq.Queue, asker: Asker, app_url: str, token: str) -> None:
    with pytest.raises(leaseq.StillWaiting) as waiting:
        asker.ask(refunds.name, "x", id="one", wait=0)
    assert waiting.value.id == "one"
    with pytest.raises(leaseq.StillWaiting):
        asker.wait_for(refunds.name, "one", timeout=0.1)
    asker.cancel(refunds.name, "one")
    asker.cancel(refunds.name, "one")
    calls: list[Callable[[], object]] = [
        lambda: asker.wait_for(refunds.name, "one"),
        lambda: asker.ask(refunds.name, "x", id="one"),
    ]
    for call in calls:
        with pytest.raises(leaseq.NotAnswered) as error:
            call()
        assert (error.value.id, error.value.reason) == ("one", "cancelled")
    assert asker.ask(refunds.name, "x", id="one", default="no").how == "default"
    same_asker = Asker(f"{app_url}/api/v1/", token)
    assert same_asker.ask(refunds.name, "x", id="one", default="no").how == "default"
    with pytest.raises(leaseq.NotAnswered) as error:
        asker.ask(refunds.name, "x", timeout=0.2)
    assert error.value.reason == "expired"


def test_refusals_are_those_of_the_library(refunds: leaseq.Queue, asker: Asker, app_url: str) -> None:
    with pytest.raises(leaseq.ItemNotFound):
        asker.wait_for(refunds.name, "missing")
    with pytest.raises(leaseq.QueueNotFound):
        asker.ask("missing", "x")
    with pytest.raises(leaseq.ServerRefused):
        Asker(app_url, "leaseq_wrong").ask(refunds.name, "x")
    endless: list[Any] = []
    endless.append(endless)
    bad: list[tuple[dict[str, Any], str]] = [
        *BAD_QUESTIONS,
        *[({"payload": value}, "payload") for value in ({1, 2}, math.nan, endless, {1: 2}, "\ud800")],
        ({"default": {1, 2}}, "default"),
    ]
    for options, field in bad:
        with pytest.raises(leaseq.Invalid) as refusal:
            asker.ask(refunds.name, **{"payload": "x", "wait": 0, **options})
        assert refusal.value.field == field, options
    for timeout in (-1, "1", None, math.nan, True):
        with pytest.raises(leaseq.Invalid):
            asker.wait_for(refunds.name, "one", timeout)  # type: ignore[arg-type]
    assert refunds.stats().inbound == 0
    with pytest.raises(leaseq.TooLarge):
        asker.ask(refunds.name, "x" * 300_000)
    with pytest.raises(leaseq.Invalid):
        asker.ask("No/Queue", "x")
    for url in BAD_URLS:
        with pytest.raises(leaseq.Invalid):
            Asker(url, "token")  # type: ignore[arg-type]
    for bad_token in ("", "to ken", "token\n", "tök€n"):
        with pytest.raises(leaseq.Invalid):
            Asker(app_url, bad_token)


def test_stop_ends_the_wait(refunds: leaseq.Queue, asker: Asker) -> None:
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(asker.ask, refunds.name, "x", timeout=600, stop=stop)
        eventually(lambda: refunds.stats().inbound == 1)
        stop.set()
        with pytest.raises(leaseq.StillWaiting):
            future.result(20)  # a request without it waits for 25 seconds
    with pytest.raises(leaseq.StillWaiting):
        asker.ask(refunds.name, "x", wait=0.1, stop=stop)


BAD_URLS = (
    *("ftp://example.org", "example.org", "http://", "file:///etc/passwd", "http://exam ple.org"),
    *("http://example.org:port", "http://[::1", "http://example.org\n", None),
)


class Flaky(http.server.BaseHTTPRequestHandler):
    """Passes requests on to the app, but loses some responses, and answers others itself."""

    plan: list[str]
    app_url: str
    seen: list[str]

    def _handle(self) -> None:
        self.seen.append(self.command)
        step = self.plan.pop(0) if self.plan else "pass"
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if step == "drop":
            self.connection.close()
        elif step in ("503", "429", "302", "200"):
            self.send_response(int(step))
            self.send_header("Retry-After", "0")
            self.send_header("Location", f"{self.app_url}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            names = ("Authorization", "Content-Type")
            headers = {name: self.headers[name] for name in names if self.headers[name]}
            url = self.app_url + self.path
            request = urllib.request.Request(url, body or None, headers, method=self.command)
            with urllib.request.urlopen(request) as response:
                content = response.read()
                if step == "lose":
                    self.connection.close()
                    return
                self.send_response(response.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

    do_GET = do_POST = do_DELETE = _handle  # noqa: N815

    def log_message(self, *_arguments: Any) -> None: ...


@pytest.fixture
def flaky(app_url: str) -> Iterator[tuple[str, type[Flaky]]]:
    handler = type("Handler", (Flaky,), {"plan": [], "app_url": app_url, "seen": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", handler
    server.shutdown()
    thread.join()
    server.server_close()


def test_lost_responses_ask_once(
    refunds: leaseq.Queue, token: str, flaky: tuple[str, type[Flaky]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.remote._PAUSES", (0.01, 0.01))
    url, handler = flaky
    handler.plan[:] = ["drop", "lose", "503", "429"]
    asker = Asker(url, token)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(asker.ask, refunds.name, "x", timeout=60)
        eventually(lambda: refunds.stats().inbound == 1)
        handler.plan[:0] = ["drop", "lose"]
        answer(refunds, "yes")
        assert future.result(30).result == "yes"
    assert refunds.stats().counters["enqueued"] == 1
    (item,) = refunds.items("finished")
    assert item.expires is not None
    assert item.expires - item.enqueued_at < timedelta(seconds=60), "from the call on, not from its last try"


def test_app_that_stays_away_is_told(
    token: str, flaky: tuple[str, type[Flaky]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.remote._PAUSES", (0.01, 0.01))
    url, handler = flaky
    handler.plan[:] = ["drop"] * 10_000
    with pytest.raises(leaseq.ServerUnavailable):
        Asker(url, token).ask("refunds", "x", timeout=0.2)
    handler.plan[:] = ["302"]
    with pytest.raises(leaseq.ServerRefused):
        Asker(url, token).ask("refunds", "x", timeout=0.2)
    handler.plan[:] = ["200"]
    with pytest.raises(leaseq.ServerRefused):  # it is no leaseq app
        Asker(url, token).ask("refunds", "x", timeout=0.2)
    assert handler.seen[-1] == "POST", "a redirect is not followed: it would pass on the token"


def test_asker_needs_only_the_standard_library() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(Path(leaseq.__file__).parents[1])!r}); import leaseq.remote; "
        "own = {name.partition('.')[0] for name in sys.modules}; "
        "print(sorted(own - set(sys.stdlib_module_names) - {'leaseq', '__main__'}))"
    )
    command = [sys.executable, "-S", "-c", code]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip() == "[]"
