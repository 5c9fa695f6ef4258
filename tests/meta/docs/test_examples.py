"""The README and the pages for developers: their commands and examples do what they say."""

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
from tests.meta.docs import calls_table, policy_table, settings_table, types_table
from tests.web.gunicorn_place import serving

ROOT = Path(__file__).parents[3]
SECRET = "a secret for tests that is long enough"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/developer.md"])
def test_the_python_examples_run(page: str, server: Any, queue_name: str) -> None:
    code = "\n".join(blocks(page, "python"))
    code = code.replace("redis://localhost:6379/0", server.url).replace('"reviews"', f'"{queue_name}"')
    names: dict[str, Any] = {}
    exec(compile(code, page, "exec"), names)
    assert names["queue"].stats().counters["finished"] >= 1


def test_the_examples_for_event_loops_run(
    server: Any, queue_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first two. Django and Celery are not installed for tests: their examples compile."""
    plain, fastapi, *others = blocks("docs/asyncio.md", "python")
    for other in others:
        compile(other, "docs/asyncio.md", "exec")
    assert len(others) == 3
    plain = plain.replace("redis://localhost:6379/0", server.url)
    exec(compile(plain.replace('"reviews"', f'"{queue_name}"'), "docs/asyncio.md", "exec"), {})
    queue = leaseq.Queue(server.client, queue_name)
    assert queue.stats().finished == 1
    monkeypatch.setenv("LEASEQ_REDIS_URL", server.url)
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(fastapi.replace('"reviews"', f'"{queue_name}"'), "docs/asyncio.md", "exec"), names)
    queue.enqueue({}, id="one")

    async def asks() -> tuple[Any, Any, Any]:
        app = names["app"]
        transport = httpx.ASGITransport(app)
        async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport) as web:
            lease = (await web.post("http://app/next/ann")).json()
            finish = f"http://app/items/one/finish?person=ann&token={lease['token']}"
            return lease, await web.post(finish, json={}), await web.post(finish + "9", json={})

    lease, done, lost = asyncio.run(asks())
    assert lease["id"] == "one"
    assert done.json() == {"late": False}
    assert (lost.status_code, queue.stats().finished) == (409, 2)


def test_the_library_example_is_short() -> None:
    (example,) = blocks("README.md", "python")
    assert len([line for line in example.splitlines() if line.strip()]) <= 20


@pytest.fixture(scope="module")
def place(server: Any) -> Any:
    accounts = Accounts(server.client)
    accounts.add("readme", by="the tests", role="manager")
    with serving(server.url, SECRET) as url:
        yield url, accounts.create_token("readme", "for the README", by="the tests")


def test_the_curl_example_runs(server: Any, place: Any, queue_name: str) -> None:
    url, token = place
    first, finish = (block for block in blocks("README.md", "sh") if "curl" in block)
    begin, *calls = re.split(r"\n(?=curl)", first.strip())
    assert begin == "export LEASEQ=http://127.0.0.1:8000/api/v1 TOKEN=$(leaseq token create alice)"

    def run(command: str, **names: str) -> Any:
        environment = {**os.environ, "LEASEQ": f"{url}/api/v1", "TOKEN": token, **names}
        command = command.replace("queues/reviews", f"queues/{queue_name}")
        done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, check=True)
        answer = json.loads(done.stdout)
        assert "code" not in answer, (command, answer)
        return answer

    _, added, lease = map(run, calls)
    assert added["added"]
    assert lease["id"] == added["id"]
    finished = run(finish, ID=lease["id"], LEASE_TOKEN=str(lease["token"]))
    assert finished == {"id": lease["id"], "late": False, "replayed": False, "next": None}


def _typed(page: str) -> list[list[str]]:
    lines = "\n".join(blocks(page, "sh")).splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("valkey-cli ")]


@pytest.mark.parametrize("page", ["README.md", "docs/inspecting.md"])
def test_what_is_typed_into_valkey_cli_answers(page: str, server: Any, queue_name: str) -> None:
    queue = leaseq.Queue(server.client, queue_name)
    queue.enqueue_many([leaseq.NewItem({"n": n}, id=f"item-{n}", max_attempts=1) for n in range(3)])
    dead = queue.reserve("alice")
    assert dead is not None
    queue.fail(dead, "unreadable")
    assert queue.reserve("alice") is not None
    endpoints = webhooks.Endpoints(server.client)
    loopback = webhooks.networks("127.0.0.0/8")
    made = endpoints.add("http://127.0.0.1/", events=["person.*"], by="alice", allow=loopback)
    webhooks.emit(server.client, "person.added", {"name": "bob", "by": "alice"})
    commands = _typed(page)
    assert commands
    for command in commands:
        words = [word.replace("{reviews}", f"{{{queue_name}}}").replace("ID", "item-1") for word in command]
        answer = server.redis.execute_command(*words)
        assert answer not in (None, [], 0), words
        assert not isinstance(answer, list) or None not in answer, words
    endpoints.remove(made.endpoint.id)


def test_every_key_of_a_queue_is_explained() -> None:
    page = (ROOT / "docs/inspecting.md").read_text()
    names = [name for name in vars(Keys) if not name.startswith("_") and name != "queue"]
    assert len(names) >= 11
    for name in names:
        assert f"`{getattr(Keys('reviews'), name)}`" in page


def test_every_command_of_dev_in_the_readme_is_one() -> None:
    usage = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
    for command in re.findall(r"\./dev (\w+)", (ROOT / "README.md").read_text()):
        assert f"./dev {command}" in usage


def test_the_pages_named_in_the_readme_are_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text()):
        assert (ROOT / target).exists(), target


def test_the_table_of_settings_is_what_the_code_says() -> None:
    assert (ROOT / "docs/settings.md").read_text() == settings_table.page()


def test_the_page_of_the_types_is_what_the_code_says() -> None:
    made = types_table.page()
    assert (ROOT / "docs/types.md").read_text() == made, "python -m tests.meta.docs.types_table prints it"
    for module in (leaseq, transfer, backup, webhooks):
        for record in types_table.records(module):
            named = set(types_table.fields(record))
            assert named >= set(typing.get_type_hints(record)), record


def test_the_page_of_the_calls_is_what_the_code_says() -> None:
    made = calls_table.page()
    assert (ROOT / "docs/calls.md").read_text() == made, "python -m tests.meta.docs.calls_table prints it"
    for kind in (leaseq.Client, leaseq.Queue, leaseq.Worker):
        assert all(re.search(rf"^### `{name}[(:]", made, re.MULTILINE) for name in calls_table.members(kind))


def test_the_page_of_the_policy_is_what_the_code_says() -> None:
    made = policy_table.page()
    assert (ROOT / "docs/policy.md").read_text() == made, "python -m tests.meta.docs.policy_table prints it"
    assert all(f"| `{field.name}` |" in made for field in fields(leaseq.Policy))
