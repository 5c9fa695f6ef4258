"""Failing commands exit with a code and one line, never with a traceback."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from leaseq.cli import main
from leaseq.cli.common import CommandFailed
from tests.cli.conftest import Call, Spawn

ON_A_QUEUE = [
    ["clear", "no-such-queue"],
    ["queue", "show", "no-such-queue"],
    ["queue", "set", "no-such-queue", "--holds", "2"],
    ["queue", "pause", "no-such-queue"],
    ["queue", "resume", "no-such-queue"],
    ["stats", "no-such-queue"],
    ["export", "no-such-queue"],
    ["import", "no-such-queue", "-", "--format", "csv"],
    ["simulate", "no-such-queue"],
]


@pytest.mark.parametrize("args", ON_A_QUEUE, ids=" ".join)
def test_unknown_queue_exits_1_with_one_line(call: Call, args: list[str]) -> None:
    result = call(*args)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "leaseq: there is no queue 'no-such-queue'\n"


@pytest.mark.parametrize(
    "args",
    [*ON_A_QUEUE, ["queue", "create", "q"], ["queue", "list"], ["stats"], ["clear", "--all"]],
    ids=" ".join,
)
def test_unavailable_server_exits_1_with_one_line(args: list[str], tmp_path: Path) -> None:
    result = CliRunner().invoke(main, [*args, "--redis", f"unix://{tmp_path}/none.sock"], prog_name="leaseq")
    assert result.exit_code == 1
    assert re.fullmatch(r"leaseq: [^\n]+\n", result.stderr)
    assert result.stdout == ""


def test_process_exits_1_with_one_line_if_server_is_unavailable(spawn: Spawn) -> None:
    process = spawn("stats", url="redis://127.0.0.1:1")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.count(b"\n")) == (1, b"", 1)


@pytest.mark.parametrize(
    "args",
    [
        ["nothing"],
        ["clear"],
        ["clear", "q", "--all"],
        ["clear", "--all", "--every", "0"],
        ["clear", "No Name"],
        ["queue"],
        ["queue", "create"],
        ["queue", "create", "A"],
        ["queue", "create", "x" * 65],
        ["import", "q", "/nowhere/a.csv"],
        ["import", "q", "-"],
        ["import", "q", "-", "--format", "ods"],
        ["import", "q", "-", "--format", "csv", "--envelope"],
        ["export", "q", "a.ods"],
        ["stats", "--every", "x"],
        ["simulate", "q", "--people", "0"],
        ["simulate", "q", "--abandon-rate", "2"],
        ["simulate", "q", "--abandon-rate", "0.6", "--fail-rate", "0.6"],
        ["stats", "--redis", "http://example.org"],
    ],
    ids=" ".join,
)
def test_misuse_is_exit_code_2(call: Call, args: list[str]) -> None:
    call("queue", "create", "q")
    result = call(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr


@pytest.mark.parametrize(
    "args",
    [
        ["import", "q", "missing.csv"],
        ["queue", "create", "x", "--form", "missing.json"],
        ["stats", "--every", "x"],
    ],
)
def test_invalid_option_value_is_reported_in_one_line(call: Call, args: list[str]) -> None:
    call("queue", "create", "q")
    (line,) = call(*args).stderr.splitlines()
    assert line.startswith("leaseq: Invalid value for '")
    assert args[-1] in line


def test_export_to_unsupported_format_lists_supported_formats(call: Call) -> None:
    call("queue", "create", "q")
    for file in ("a.xls", "a.ods.gz", "a.parquet"):
        error = call("export", "q", file).stderr
        assert error.startswith(f"leaseq: '{file}': an export is written as CSV, TSV, JSON, JSONL or xlsx: ")
        assert "import" not in error


def test_missing_server_error_names_redis_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEASEQ_REDIS_URL", raising=False)
    result = CliRunner().invoke(main, ["stats", "--data", str(tmp_path / "none")], prog_name="leaseq")
    assert result.exit_code == 1
    assert result.stderr.startswith("leaseq: no server: no `leaseq up` is running for the data directory")
    assert "--redis URL" in result.stderr


def test_data_option_takes_precedence_over_environment(call: Call, tmp_path: Path) -> None:
    assert "no `leaseq up` is running" in call("stats", "--data", str(tmp_path)).stderr


def test_failure_message_is_joined_to_one_line() -> None:
    assert CommandFailed("the server said:\n  no").message == "the server said: no"
