"""schemathesis takes the description at its word, on its own server. CONTRIBUTING.md has the longer run."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import leaseq
from leaseq.embedded import EmbeddedServer
from webapp.accounts import Accounts

from .conftest import CHEAP, SECRET
from .gunicorn_place import gunicorn

ROOT = Path(__file__).parents[2]
PEOPLE = "/api/v1/people/{name}"


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[str, str]]:
    """Address and token: a queue of reviews, and nobody who waits for what does not come."""
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder, fsync="no") as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("LEASEQ_WAITING", "0")
        client = leaseq.connect(server.url)
        queue = leaseq.Queue(client, "reviews")
        queue.enqueue_many(leaseq.NewItem({"text": str(n)}, id=f"r-{n}") for n in range(100))
        accounts = Accounts(client, passwords=CHEAP)
        accounts.add("the tests", by="test", role="admin")
        token = accounts.create_token("the tests", "schemathesis", by="test")
        with gunicorn(server.url, SECRET, workers=1, threads=4) as (url, _):
            yield url, token
        client.close()


@pytest.mark.parametrize(
    "words",
    [
        # Changing people may take its own right to go on, where it learns its own name: so by itself.
        ["--exclude-path", PEOPLE, "--max-time", "8"],
        ["--include-path", PEOPLE, "--max-time", "2", "--phases", "coverage,fuzzing"],
    ],
    ids=["all but people", "people"],
)
def test_all_checks_pass(place: tuple[str, str], words: list[str], tmp_path: Path) -> None:
    url, token = place
    command = [Path(sys.executable).with_name("st"), "--config-file", ROOT / "schemathesis.toml"]
    command += ["run", f"{url}/api/v1/openapi.json", "--header", f"Authorization: Bearer {token}"]
    command += ["--checks", "all", "--seed", "1", "--max-examples", "3", "--suppress-health-check", "all"]
    done = subprocess.run(
        [*command, *words], check=False, cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout
    assert "Coverage" in done.stdout
