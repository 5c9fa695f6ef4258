"""The page for who calls REST: its commands work, one after the other, and answer in the shapes it shows."""

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
from tests.web.gunicorn_place import serving

SET_BY_THE_TEST = ("export LEASEQ=", "AUTH=")


def commands() -> list[tuple[str, str]]:
    """Each command of the page with what it is shown to print, '' where nothing is shown."""
    text = "".join(blocks("docs/rest.md", "console"))
    matches = re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE)
    return [(command, shown.strip()) for command, shown in matches if not command.startswith(SET_BY_THE_TEST)]


def test_its_commands_work_from_top_to_bottom(server: Any, queue_name: str, tmp_path: Path) -> None:
    accounts = Accounts(server.client)
    alice, bob = (accounts.add(f"{name} of {queue_name}", by="test", role="manager") for name in ("a", "b"))
    (tmp_path / "reviews.jsonl").write_text('{"id": "r-2", "payload": {"text": "Never came"}}\n')
    (tmp_path / "reviews.csv").write_text("id,text\nr-7,Late\nr-8\nr-9,Early\n")
    asked = commands()
    assert len(asked) > 6
    with serving(server.url, SECRET) as url:
        token = accounts.create_token(alice.name, "for the page", by="test")
        places = {"LEASEQ": f"{url}/api/v1", "AUTH": f"Authorization: Bearer {token}"}
        for typed, shown in asked:
            command = typed.replace("queues/reviews", f"queues/{queue_name}")
            command = command.replace('"bob"', f'"{bob.name}"')
            done = subprocess.run(
                ["sh", "-c", command],
                env={**os.environ, **places},
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=True,
                timeout=20,
            )
            answer = json.loads(done.stdout) if done.stdout else {}
            assert "code" not in answer, (command, answer)
            if shown:
                assert list(answer) == list(json.loads(shown)), command
    queue = leaseq.Queue(server.client, queue_name)
    assert queue.get("r-1").state == "finished"
    assert queue.get("r-2").assigned_to == (bob.name,)
    assert queue.get("r-2").priority == 10
