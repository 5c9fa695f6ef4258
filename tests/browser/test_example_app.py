"""The single-page app of examples/, served from another origin, on REST alone."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.browser.conftest import PATIENT, SECRET
from tests.support.patience import eventually
from tests.web.gunicorn_place import gunicorn

FOLDER = Path(__file__).parents[2] / "examples"
FORM = {
    "ask": {
        "type": "object",
        "required": ["about", "stars"],
        "additionalProperties": False,
        "properties": {
            "about": {"title": "What is it about?", "enum": ["delivery", "refund"]},
            "urgent": {"type": "boolean", "title": "Is it urgent?"},
            "stars": {"type": "integer", "title": "Stars", "minimum": 1, "maximum": 5},
            "note": {"type": "string", "title": "Note", "maxLength": 20},
        },
    }
}


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    """Where the team serves its own app: another origin than leaseq's."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(FOLDER))) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{web.server_port}"
        web.shutdown()


@pytest.fixture(scope="module")
def place(server: Any, elsewhere: str) -> Iterator[str]:
    with gunicorn(server.url, SECRET, workers=1, threads=4, LEASEQ_CORS_ORIGINS=elsewhere) as (url, _):
        yield url


@pytest.fixture
def app(chromium: Browser, elsewhere: str) -> Iterator[Page]:
    context = chromium.new_context()
    context.set_default_timeout(PATIENT)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(f"{elsewhere}/app.html")
    yield page
    context.close()
    assert wrong == []


def sign_in(app: Page, place: str, queue: str, token: str) -> None:
    app.get_by_label("Address").fill(place)
    app.get_by_label("Queue").fill(queue)
    app.get_by_label("Token").fill(token)
    app.get_by_role("button", name="Sign in").click()


def test_take_answer_next_and_give_back(
    app: Page, place: str, accounts: Accounts, queue: leaseq.Queue, person: str
) -> None:
    queue.configure(form=FORM, lease_seconds=4)
    for id in ("one", "two"):
        queue.enqueue({"text": f"This is {id}"}, id=id)
    sign_in(app, place, queue.name, accounts.create_token(person, "app", by="test"))
    expect(app.get_by_text("This is one")).to_be_visible()
    assert Axe().run(app).violations_count == 0
    app.get_by_label("What is it about?").select_option("refund")
    app.get_by_label("Is it urgent?").select_option("no")
    app.get_by_label("Stars").fill("4")
    first = queue.mine(person)[0].expires_at
    eventually(lambda: queue.mine(person)[0].expires_at > first, "it renews by itself")
    app.get_by_role("button", name="Finish and next").click()
    expect(app.get_by_text("This is two")).to_be_visible()
    assert [answer.result for answer in queue.answers()] == [{"about": "refund", "urgent": False, "stars": 4}]
    app.get_by_role("button", name="Give it back").click()
    expect(app.get_by_role("status")).to_contain_text("Given back")
    assert queue.get("two").state == "inbound"
    app.get_by_role("button", name="Take an item").click()
    expect(app.get_by_text("This is two")).to_be_visible()
    queue.release("two")
    app.get_by_label("Stars").fill("1")
    app.get_by_role("button", name="Finish and next").click()
    expect(app.get_by_role("status")).to_contain_text(re.compile("lease|waits|Finished"))


def test_what_is_refused_is_said(app: Page, place: str, queue: leaseq.Queue) -> None:
    queue.configure()
    sign_in(app, place, queue.name, "no such token")
    expect(app.get_by_role("status")).to_contain_text("token")


def test_it_is_short() -> None:
    assert len((FOLDER / "app.html").read_text().splitlines()) <= 100
