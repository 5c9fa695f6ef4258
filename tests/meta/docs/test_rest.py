"""The commands of docs/rest.md work, one after the other, and their answers have the shapes shown."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.meta.docs.test_examples import SECRET, blocks
from tests.web.gunicorn_server import serve_app

TEST_SETTINGS = ("export LEASEQ=", "AUTH=")


def commands() -> list[tuple[str, str]]:
    """Each command of the page with the output shown for it, '' if none is shown."""
    text = "".join(blocks("docs/rest.md", "console"))
    matches = re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE)
    return [(command, output.strip()) for command, output in matches if not command.startswith(TEST_SETTINGS)]


def test_rest_md_commands_succeed_in_sequence(server: Any, queue_name: str, tmp_path: Path) -> None:
    accounts = Accounts(server.client)
    alice, bob = (accounts.add(f"{name} of {queue_name}", by="test", role="manager") for name in ("a", "b"))
    (tmp_path / "reviews.jsonl").write_text('{"id": "r-2", "payload": {"text": "Never came"}}\n')
    (tmp_path / "reviews.csv").write_text("id,text\nr-7,Late\nr-8\nr-9,Early\n")
    page_commands = commands()
    assert len(page_commands) > 6
    with serve_app(server.url, SECRET) as url:
        token = accounts.create_token(alice.name, "for the page", by="test")
        environment = {"LEASEQ": f"{url}/api/v1", "AUTH": f"Authorization: Bearer {token}"}
        for page_command, output in page_commands:
            command = page_command.replace("queues/reviews", f"queues/{queue_name}")
            command = command.replace('"bob"', f'"{bob.name}"')
            completed = subprocess.run(
                ["sh", "-c", command],
                env={**os.environ, **environment},
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=True,
                timeout=20,
            )
            body = json.loads(completed.stdout) if completed.stdout else {}
            assert "code" not in body, (command, body)
            if output:
                assert list(body) == list(json.loads(output)), command
    queue = leaseq.Queue(server.client, queue_name)
    assert queue.get("r-1").state == "finished"
    assert queue.get("r-2").assigned_to == (bob.name,)
    assert queue.get("r-2").priority == 10
