"""``leaseq doctor`` as it is called."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from click.testing import CliRunner, Result

from leaseq.cli import main
from leaseq.doctor import CHECKS
from leaseq.engine.keys import SCHEMA
from leaseq.server.embedded import EmbeddedServer
from tests.doctor.looking import url_of
from tests.support.ports import free_port
from tests.support.processes import RunningUp

TESTS = Path(__file__).parent


def doctor(*words: str) -> Result:
    return CliRunner().invoke(main, ["doctor", *words], prog_name="leaseq", catch_exceptions=False)


def test_one_line_each_and_1_on_an_error(wrong: redis.Redis) -> None:
    wrong.config_set("appendfsync", "everysec")
    wrong.config_set("timeout", 10)
    result = doctor("--redis", url_of(wrong))
    assert result.exit_code == 1
    first, second, last = result.output.splitlines()
    url = url_of(wrong)
    assert first.startswith(f"error: {url} has appendfsync everysec: a power cut loses up to a second")
    assert first.endswith("Fix: CONFIG SET appendfsync always, then CONFIG REWRITE [appendfsync]")
    assert second.startswith(f"warning: {url} has timeout 10")
    assert last == f"{url}: errors 1, warnings 1, not checked 0"


def test_0_on_warnings(wrong: redis.Redis) -> None:
    wrong.config_set("timeout", 10)
    result = doctor("--redis", url_of(wrong))
    assert result.exit_code == 0
    assert result.output.startswith("warning: ")
    assert "no problems" not in result.output


def test_no_password_is_printed(wrong: redis.Redis) -> None:
    wrong.config_set("timeout", 10)
    wrong.acl_setuser(
        "who", enabled=True, passwords=["+pw"], keys=["*"], channels=["*"], categories=["+@all"]
    )
    try:
        for words in ((), ("--json",)):
            assert ":pw" not in doctor("--redis", url_of(wrong, "who"), *words).output
    finally:
        wrong.acl_deluser("who")


def test_json(wrong: redis.Redis) -> None:
    wrong.config_set("appendfsync", "no")
    result = doctor("--redis", url_of(wrong), "--json")
    assert result.exit_code == 1
    said = json.loads(result.output)
    (finding,) = said["findings"]
    assert set(said) == {"server", "ok", "findings", "well", "schema"}
    assert (said["ok"], finding["check"], finding["level"]) == (False, "appendfsync", "error")
    assert set(finding) == {"check", "level", "where", "says", "cure"}
    assert said["schema"] == {"known": SCHEMA, "queues": {}}


def test_no_server() -> None:
    result = doctor("--redis", f"redis://127.0.0.1:{free_port()}")
    assert result.exit_code == 1
    assert result.output.startswith("leaseq: no answer from ")


@pytest.fixture
def up() -> Iterator[tuple[Path, RunningUp]]:
    with tempfile.TemporaryDirectory(prefix="leaseq-") as folder:
        running = RunningUp(Path(folder), free_port(), "--workers", "1")
        yield Path(folder), running
        running.stop()


def test_with_the_server_of_up_all_is_well(up: tuple[Path, RunningUp]) -> None:
    folder, _ = up
    result = doctor("--data", str(folder))
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0] == f"no problems found: unix://{folder}/server.sock"
    assert [line.partition(":")[0].strip() for line in lines[1:]] == [
        "append-only file",
        "memory",
        "access",
        "server",
        "permissions",
        "replication",
        "queues",
        "pages",
    ]


def test_with_the_embedded_server_all_is_well(embedded: EmbeddedServer) -> None:
    output = doctor("--redis", embedded.url).output
    assert output.startswith("no problems found: unix://")
    assert re.search(r"^  server: (Valkey|Redis) \d+\.\d+\.\d+: new enough", output, re.MULTILINE)


def test_each_check_has_a_test() -> None:
    tests = "".join(path.read_text() for path in TESTS.glob("test_*.py"))
    assert [one.name for one in CHECKS if f'"{one.name}"' not in tests] == []
    assert len({one.name for one in CHECKS}) == len(CHECKS)
