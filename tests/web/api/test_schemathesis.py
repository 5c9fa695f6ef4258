"""schemathesis tests REST against its description, on its own server. CONTRIBUTING.md has a longer run."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import leaseq
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp.store.accounts import Accounts
from tests.web.conftest import CHEAP_PASSWORDS, PASSWORD, SECRET
from tests.web.gunicorn_server import ADJUSTED_APP, run_gunicorn

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def url_and_token() -> Iterator[tuple[str, str]]:
    """The address and token of an app with a queue of reviews, whose requests don't wait for items."""
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder, fsync="no") as server,
    ):
        client = leaseq.connect(server.url)
        queue = leaseq.Queue(client, "reviews")
        queue.enqueue_many(leaseq.NewItem({"text": str(n)}, id=f"r-{n}") for n in range(100))
        accounts = Accounts(client, passwords=CHEAP_PASSWORDS)
        # The only admin with a password, who can sign in: no request can disable them.
        accounts.add("the tests", by="test", role="admin", password=PASSWORD)
        token = accounts.create_token("the tests", "schemathesis", by="test")
        with run_gunicorn(server.url, SECRET, workers=1, threads=4, app=ADJUSTED_APP, NO_WAIT="1") as (
            url,
            _,
        ):
            yield url, token
        client.close()


def test_all_checks_pass(url_and_token: tuple[str, str], tmp_path: Path) -> None:
    url, token = url_and_token
    command: list[str | Path] = [
        Path(sys.executable).with_name("st"),
        "--config-file",
        ROOT / "schemathesis.toml",
    ]
    command += ["run", f"{url}/api/v1/openapi.json", "--header", f"Authorization: Bearer {token}"]
    command += ["--checks", "all", "--seed", "1", "--max-examples", "3", "--max-time", "10"]
    result = subprocess.run(
        [*command, "--suppress-health-check", "all"],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stdout
    assert "Coverage" in result.stdout
    selected_count, total_count = map(int, re.findall(r"(\d+) selected / (\d+) total", result.stdout)[0])
    assert total_count - selected_count == 4, (
        "all except the event stream, the import, and calls that end the token"
    )
