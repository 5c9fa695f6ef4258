"""The command ``leaseq doctor``."""

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
from leaseq.engine.keys import SCHEMA
from leaseq.server.embedded import EmbeddedServer
from tests.doctor.reports import url_of
from tests.support.ports import free_port
from tests.support.processes import UpProcess
from tools.docs.doctor import CHECKS

TESTS = Path(__file__).parent


def run_doctor(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["doctor", *arguments], prog_name="leaseq", catch_exceptions=False)


def test_error_exits_1_and_each_finding_is_one_line(scratch_server: redis.Redis) -> None:
    scratch_server.config_set("appendfsync", "everysec")
    scratch_server.config_set("timeout", 10)
    result = run_doctor("--redis", url_of(scratch_server))
    assert result.exit_code == 1
    first_line, second_line, last_line = result.output.splitlines()
    url = url_of(scratch_server)
    assert first_line.startswith(f"error: {url} has appendfsync everysec: a power cut loses up to a second")
    assert first_line.endswith("Fix: CONFIG SET appendfsync always, then CONFIG REWRITE [appendfsync]")
    assert second_line.startswith(f"warning: {url} has timeout 10")
    assert last_line == f"{url}: errors 1, warnings 1, not checked 0"


def test_warnings_alone_exit_0(scratch_server: redis.Redis) -> None:
    scratch_server.config_set("timeout", 10)
    result = run_doctor("--redis", url_of(scratch_server))
    assert result.exit_code == 0
    assert result.output.startswith("warning: ")
    assert "no problems" not in result.output


def test_password_of_url_is_not_printed(scratch_server: redis.Redis) -> None:
    scratch_server.config_set("timeout", 10)
    scratch_server.acl_setuser(
        "who", enabled=True, passwords=["+pw"], keys=["*"], channels=["*"], categories=["+@all"]
    )
    try:
        for options in ((), ("--json",)):
            assert ":pw" not in run_doctor("--redis", url_of(scratch_server, "who"), *options).output
    finally:
        scratch_server.acl_deluser("who")


def test_report_is_printed_as_json(scratch_server: redis.Redis) -> None:
    scratch_server.config_set("appendfsync", "no")
    result = run_doctor("--redis", url_of(scratch_server), "--json")
    assert result.exit_code == 1
    report = json.loads(result.output)
    (finding,) = report["findings"]
    assert set(report) == {"server", "ok", "findings", "passed", "schema"}
    assert (report["ok"], finding["check"], finding["level"]) == (False, "appendfsync", "error")
    assert set(finding) == {"check", "level", "where", "problem", "fix"}
    assert report["schema"] == {"known": SCHEMA, "queues": {}}


def test_unavailable_server_exits_1() -> None:
    result = run_doctor("--redis", f"redis://127.0.0.1:{free_port()}")
    assert result.exit_code == 1
    assert result.output.startswith("leaseq: no answer from ")


@pytest.fixture
def up() -> Iterator[tuple[Path, UpProcess]]:
    with tempfile.TemporaryDirectory(prefix="leaseq-") as folder:
        run = UpProcess(Path(folder), free_port(), "--workers", "1")
        yield Path(folder), run
        run.stop()


def test_server_of_leaseq_up_has_no_problems(up: tuple[Path, UpProcess]) -> None:
    folder, _ = up
    result = run_doctor("--data", str(folder))
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


def test_embedded_server_has_no_problems(embedded_server: EmbeddedServer) -> None:
    output = run_doctor("--redis", embedded_server.url).output
    assert output.startswith("no problems found: unix://")
    assert re.search(r"^  server: (Valkey|Redis) \d+\.\d+\.\d+: new enough", output, re.MULTILINE)


def test_each_check_has_a_test() -> None:
    tests = "".join(path.read_text() for path in TESTS.glob("test_*.py"))
    assert len(CHECKS) > 40
    assert [check.name for check in CHECKS if f'"{check.name}"' not in tests] == []
    assert len({check.name for check in CHECKS}) == len(CHECKS)
