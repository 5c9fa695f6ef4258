"""The receivers of docs/how-to/receive-webhooks.md, each run in its own server."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from leaseq.webhooks.sending import post
from tests.support.waiting import eventually
from tests.webhooks.conftest import LOOPBACK, Hooks

ROOT = Path(__file__).parents[2]
COMMANDS = {
    "flask": ["flask", "--app", "webhook_flask", "run", "--port"],
    "fastapi": ["uvicorn", "webhook_fastapi:app", "--port"],
}


def listens(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port)):
        return True


@contextmanager
def run_receiver(name: str, secret: str, port: int) -> Iterator[str]:
    command = [sys.executable, "-m", *COMMANDS[name], str(port)]
    environment = {**os.environ, "WEBHOOK_SECRET": secret}
    process = subprocess.Popen(
        command, cwd=ROOT / "examples", env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        eventually(lambda: listens(port), "the receiver listens")
        yield f"http://127.0.0.1:{port}/hook"
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("name", COMMANDS)
def test_example_receiver_accepts_only_signed_requests(hooks: Hooks, name: str, port: int) -> None:
    hook = hooks.add(f"http://127.0.0.1:{port}/hook")
    hooks.finish("a", {"v": "é"})
    with run_receiver(name, hook.secret, port) as url:
        (response,) = hooks.run(hook.endpoint)
        assert response is not None
        assert (response.status, response.error) == (204, None)
        unsigned_response = post(url, {"Content-Type": "application/json"}, b"{}", LOOPBACK)
        assert unsigned_response.status == 400
        hooks.endpoints.rotate(hook.endpoint.id)
        assert hooks.test(hook.endpoint).state == "delivered", "the older secret is used as well"


@pytest.mark.parametrize("name", COMMANDS)
def test_page_shows_the_examples_unchanged(name: str) -> None:
    code = (ROOT / "examples" / f"webhook_{name}.py").read_text()
    assert len(code.splitlines()) <= 22
    assert f"```python\n{code}```" in (ROOT / "docs" / "how-to" / "receive-webhooks.md").read_text()
