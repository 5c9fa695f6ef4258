"""The single-page apps of examples/, served from another origin, using only REST."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.browser.accessibility import find_violations
from tests.browser.conftest import SECRET, TIMEOUT_MS
from tests.support.typescript import needs_typescript, npx
from tests.support.waiting import eventually
from tests.web.gunicorn_server import run_gunicorn

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples"
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
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the examples, to which compiled files may be added."""
    return shutil.copytree(FOLDER, tmp_path_factory.mktemp("own") / "examples")


@pytest.fixture(scope="module")
def team_url(examples: Path) -> Iterator[str]:
    """The URL where the team serves its own app, on another origin than leaseq's."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(examples))) as http_server:
        threading.Thread(target=http_server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http_server.server_port}"
        http_server.shutdown()


@pytest.fixture(scope="module")
def leaseq_url(server: Any, team_url: str) -> Iterator[str]:
    with run_gunicorn(server.url, SECRET, workers=1, threads=4, LEASEQ_CORS_ORIGINS=team_url) as (url, _):
        yield url


@pytest.fixture
def app(request: pytest.FixtureRequest, chromium: Browser, team_url: str) -> Iterator[Page]:
    """An open example: app.html unless the test names another."""
    context = chromium.new_context()
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{team_url}/{getattr(request, 'param', 'app.html')}")
    yield page
    context.close()
    assert errors == []


def sign_in(app: Page, leaseq_url: str, queue: str, token: str) -> None:
    app.get_by_label("Address").fill(leaseq_url)
    app.get_by_label("Queue").fill(queue)
    app.get_by_label("Token").fill(token)
    app.get_by_role("button", name="Sign in").click()


def test_example_app_takes_renews_answers_and_gives_back_items(
    app: Page, leaseq_url: str, accounts: Accounts, queue: leaseq.Queue, person: str
) -> None:
    queue.configure(form=FORM, lease_seconds=4)
    for id in ("one", "two"):
        queue.enqueue({"text": f"This is {id}"}, id=id)
    sign_in(app, leaseq_url, queue.name, accounts.create_token(person, "app", by="test"))
    expect(app.get_by_text("This is one")).to_be_visible()
    assert find_violations(app) == []
    app.get_by_label("What is it about?").select_option("refund")
    app.get_by_label("Is it urgent?").select_option("no")
    app.get_by_label("Stars").fill("4")
    expiry = queue.mine(person)[0].expires_at
    eventually(lambda: queue.mine(person)[0].expires_at > expiry, "it renews by itself")
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


def test_example_app_shows_refusal_of_unknown_token(app: Page, leaseq_url: str, queue: leaseq.Queue) -> None:
    queue.configure()
    sign_in(app, leaseq_url, queue.name, "no such token")
    expect(app.get_by_role("status")).to_contain_text("token")


@pytest.mark.parametrize(("name", "lines"), [("app.html", 100), ("typescript/app.ts", 60)])
def test_example_source_is_short(name: str, lines: int) -> None:
    assert len((FOLDER / name).read_text().splitlines()) <= lines


TYPE_ERRORS = """
import type { components } from "./api";
// @ts-expect-error a misspelt field
export const finish: components["schemas"]["FinishRequest"] = { token: 1, result: 1, then_reserved: true };
// @ts-expect-error a text for a number
export const reserve: components["schemas"]["ReserveRequest"] = { wait: "20" };
// @ts-expect-error a field that a lease does not have
export const until = (lease: components["schemas"]["Lease"]) => lease.expires;
"""


@pytest.fixture(scope="module")
def typescript_build(examples: Path, leaseq_url: str) -> None:
    """Build it with the docs' commands, and check that its types refuse what REST refuses."""
    docs = (ROOT / "docs" / "how-to" / "build-your-own-page.md").read_text()
    commands = re.findall(r"^npx (?:-p \S+ )?([^#\n]+)", docs, re.MULTILINE)
    assert len(commands) == 2
    config = examples / "typescript" / "tsconfig.json"
    config.write_text(config.read_text().replace('"app.ts"', '"app.ts", "wrong.ts"'))
    (snippet,) = re.findall(r"^```ts\nimport .*\n(.*?)^```", docs, re.MULTILINE | re.DOTALL)
    config.with_name("wrong.ts").write_text(TYPE_ERRORS + snippet)
    for command in commands:
        local_command = command.replace("@7", "").replace("http://127.0.0.1:8000", leaseq_url)
        completed = npx(local_command, config.parent)
        assert completed.returncode == 0, completed.stdout + completed.stderr


@needs_typescript
@pytest.mark.parametrize("app", ["typescript/index.html"], indirect=True)
def test_typescript_example_works_through_queue(
    typescript_build: None, app: Page, leaseq_url: str, accounts: Accounts, queue: leaseq.Queue, person: str
) -> None:
    queue.configure(lease_seconds=4)
    for id in ("one", "two"):
        queue.enqueue({"text": f"This is {id}"}, id=id)
    sign_in(app, leaseq_url, queue.name, "no such token")
    expect(app.get_by_role("status")).to_contain_text("token")
    sign_in(app, leaseq_url, queue.name, accounts.create_token(person, "app", by="test"))
    expect(app.get_by_text("This is one")).to_be_visible()
    expect(app.get_by_role("button", name="Sign in")).to_be_hidden()
    assert find_violations(app) == []
    expiry = queue.mine(person)[0].expires_at
    eventually(lambda: queue.mine(person)[0].expires_at > expiry, "it renews by itself")
    app.get_by_label("Your answer").fill("late")
    app.get_by_label("Your answer").press("Enter")
    expect(app.get_by_text("This is two")).to_be_visible()
    expect(app.get_by_label("Your answer")).to_have_value("")
    queue.release("two")
    app.get_by_label("Your answer").fill("good")
    app.get_by_label("Your answer").press("Enter")
    expect(app.get_by_role("status")).to_contain_text("lease")  # lost, and then reserved again
    app.get_by_label("Your answer").fill("better")
    app.get_by_label("Your answer").press("Enter")
    expect(app.get_by_text("Finished. Waiting for an item")).to_be_visible()
    assert [answer.result["answer"] for answer in queue.answers()] == ["late", "better"]
    queue.enqueue({"text": "One more"})
    expect(app.get_by_text("One more")).to_be_visible()
