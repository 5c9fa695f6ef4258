"""The commands and examples of the README and of the pages for developers do what they say."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import subprocess
import typing
from dataclasses import fields
from pathlib import Path
from typing import Any

import httpx
import pytest

import leaseq
from leaseq import backup, transfer, webhooks
from leaseq.engine.keys import Keys
from leaseq.webapp.store.accounts import Accounts
from tests.web.gunicorn_server import serve_app
from tools.docs import calls, types

ROOT = Path(__file__).parents[3]
SECRET = "a secret for tests that is long enough"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


OTHER_TESTS = {
    "build-your-own-page": "tests/browser/test_example_app.py",
    "generate-a-client": "tests/web/api/test_generated_client.py",
    "receive-webhooks": "tests/webhooks/test_examples.py",
    "use-a-sql-database": "tests/bridge/test_docs.py",
    "use-a-web-framework": "tests/meta/docs/test_examples.py",
}
"""The test of each page whose examples need more than a server."""
HOW_TO_PAGES = [
    f"docs/how-to/{path.name}"
    for path in sorted((ROOT / "docs/how-to").glob("*.md"))
    if "```python" in path.read_text() and path.stem not in OTHER_TESTS
]


@pytest.mark.parametrize("page", ["README.md", "docs/library.md", *HOW_TO_PAGES])
def test_the_python_examples_run(
    page: str, server: Any, queue_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEASEQ_REDIS_URL", server.url)
    code = "\n".join(blocks(page, "python"))
    code = code.replace("redis://localhost:6379/0", server.url).replace('"reviews"', f'"{queue_name}"')
    names: dict[str, Any] = {}
    exec(compile(code, page, "exec"), names)
    assert leaseq.Queue(server.client, queue_name).exists()


@pytest.mark.parametrize(("page", "test"), OTHER_TESTS.items())
def test_other_examples_have_a_test_that_names_their_page(page: str, test: str) -> None:
    assert f"{page}.md" in (ROOT / test).read_text()


def test_the_asyncio_examples_run(server: Any, queue_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """FastAPI's runs; Django and Celery are not installed for tests: their examples are only compiled."""
    (plain,) = blocks("docs/asyncio.md", "python")
    fastapi, *other_examples = blocks("docs/how-to/use-a-web-framework.md", "python")
    for example in other_examples:
        compile(example, "docs/how-to/use-a-web-framework.md", "exec")
    assert len(other_examples) == 3
    plain = plain.replace("redis://localhost:6379/0", server.url)
    exec(compile(plain.replace('"reviews"', f'"{queue_name}"'), "docs/asyncio.md", "exec"), {})
    queue = leaseq.Queue(server.client, queue_name)
    assert queue.stats().finished == 1
    monkeypatch.setenv("LEASEQ_REDIS_URL", server.url)
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(fastapi.replace('"reviews"', f'"{queue_name}"'), "FastAPI", "exec"), names)
    queue.enqueue({}, id="one")

    async def send_requests() -> tuple[Any, Any, Any]:
        app = names["app"]
        transport = httpx.ASGITransport(app)
        async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport) as client:
            lease = (await client.post("http://app/next/ann")).json()
            finish = f"http://app/items/one/finish?person=ann&token={lease['token']}"
            return lease, await client.post(finish, json={}), await client.post(finish + "9", json={})

    lease, finish_response, wrong_token_response = asyncio.run(send_requests())
    assert lease["id"] == "one"
    assert finish_response.json() == {"late": False}
    assert (wrong_token_response.status_code, queue.stats().finished) == (409, 2)


def test_the_library_example_is_short() -> None:
    (example,) = blocks("README.md", "python")
    assert len([line for line in example.splitlines() if line.strip()]) <= 20


@pytest.fixture(scope="module")
def api(server: Any) -> Any:
    accounts = Accounts(server.client)
    accounts.add("readme", by="the tests", role="manager")
    with serve_app(server.url, SECRET) as url:
        yield url, accounts.create_token("readme", "for the README", by="the tests")


def test_the_curl_example_runs(server: Any, api: Any, queue_name: str) -> None:
    url, token = api
    begin_block, finish_command = (block for block in blocks("README.md", "sh") if "curl" in block)
    export_line, *calls = re.split(r"\n(?=curl)", begin_block.strip())
    assert export_line == "export LEASEQ=http://127.0.0.1:8000/api/v1 TOKEN=$(leaseq token create alice)"

    def run(command: str, **names: str) -> Any:
        environment = {**os.environ, "LEASEQ": f"{url}/api/v1", "TOKEN": token, **names}
        command = command.replace("queues/reviews", f"queues/{queue_name}")
        completed = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, check=True)
        body = json.loads(completed.stdout)
        assert "code" not in body, (command, body)
        return body

    _, added_item, lease = map(run, calls)
    assert added_item["added"]
    assert lease["id"] == added_item["id"]
    finish_result = run(finish_command, ID=lease["id"], LEASE_TOKEN=str(lease["token"]))
    assert finish_result == {"id": lease["id"], "late": False, "replayed": False, "next": None}


def _valkey_commands(page: str) -> list[list[str]]:
    lines = "\n".join(blocks(page, "sh")).splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("valkey-cli ")]


@pytest.mark.parametrize("page", ["README.md", "docs/inspecting.md"])
def test_valkey_cli_examples_return_replies(page: str, server: Any, queue_name: str) -> None:
    queue = leaseq.Queue(server.client, queue_name)
    queue.enqueue_many([leaseq.NewItem({"n": n}, id=f"item-{n}", max_attempts=1) for n in range(3)])
    lease = queue.reserve("alice")
    assert lease is not None
    queue.fail(lease, "unreadable")
    assert queue.reserve("alice") is not None
    endpoints = webhooks.Endpoints(server.client)
    loopback = webhooks.networks("127.0.0.0/8")
    registration = endpoints.add("http://127.0.0.1/", events=["person.*"], by="alice", allow=loopback)
    webhooks.emit(server.client, "person.added", {"name": "bob", "by": "alice"})
    commands = _valkey_commands(page)
    assert commands
    for command in commands:
        words = [word.replace("{reviews}", f"{{{queue_name}}}").replace("ID", "item-1") for word in command]
        reply = server.redis.execute_command(*words)
        assert reply not in (None, [], 0), words
        assert not isinstance(reply, list) or None not in reply, words
    endpoints.remove(registration.endpoint.id)


def test_every_key_of_a_queue_is_explained() -> None:
    page = (ROOT / "docs/inspecting.md").read_text()
    names = [name for name in vars(Keys) if not name.startswith("_") and name != "queue"]
    assert len(names) >= 11
    for name in names:
        assert f"`{getattr(Keys('reviews'), name)}`" in page


def test_types_page_has_all_fields() -> None:
    for module in (leaseq, transfer, backup, webhooks):
        for record in types.records(module):
            names = set(types.fields(record))
            assert names >= set(typing.get_type_hints(record)), record


def test_calls_page_has_all_calls() -> None:
    page = (ROOT / "docs/calls.md").read_text()
    for kind in (leaseq.Client, leaseq.Queue, leaseq.Worker):
        assert all(re.search(rf"^### `{name}[(:]", page, re.MULTILINE) for name in calls.members(kind))


def test_policy_page_has_all_fields() -> None:
    page = (ROOT / "docs/policy.md").read_text()
    assert all(f"| `{field.name}` |" in page for field in fields(leaseq.Policy))
