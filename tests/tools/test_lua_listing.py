"""``./dev lua VERB`` prints a script with the file and line of each of its lines."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import leaseq
from leaseq.engine.scripts import SCRIPTS

ROOT = Path(leaseq.__file__).parents[1]
PRINT_COMMAND = (sys.executable, "-m", "tools.lua_listing")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, cwd=ROOT)


def test_each_line_is_printed_with_file_and_line_number() -> None:
    completed = run("./dev", "lua", "finish")
    assert (completed.returncode, completed.stderr) == (0, "")
    output_lines = completed.stdout.removesuffix("\n").split("\n")
    script = SCRIPTS["finish"]
    width = output_lines[0].index("#!lua")
    for number, (line, text) in enumerate(
        zip(output_lines, script.source.removesuffix("\n").split("\n"), strict=True), 1
    ):
        assert line[:width].rstrip() == script.where(number)
        assert line[width:] == text.rstrip()
    assert "\x1b" not in completed.stdout, "no colours outside a terminal"


def test_dev_help_lists_lua_command() -> None:
    assert "\n./dev lua VERB " in run("./dev", "help").stdout


def test_the_margin_is_dim_in_a_terminal() -> None:
    reader_fd, terminal_fd = os.openpty()
    with (
        os.fdopen(reader_fd, "rb", buffering=0) as reader,
        os.fdopen(terminal_fd, "wb", buffering=0) as writer,
    ):
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        subprocess.run(
            [*PRINT_COMMAND, "schema"], stdout=writer, env=environment, check=True, timeout=60, cwd=ROOT
        )
        first_line = reader.read(4_096).split(b"\r\n")[0]
    assert re.fullmatch(rb"\x1b\[2mschema\.lua:1 *\x1b\[0m  #!lua flags=no-writes", first_line)


def test_closed_output_pipe_causes_no_error() -> None:
    completed = run("sh", "-c", '"$@" | head -n 1', "sh", *PRINT_COMMAND, "finish")
    assert completed.stdout.split() == ["finish.lua:1", "#!lua", "flags=allow-oom"]
    assert completed.stderr == ""


@pytest.mark.parametrize("words", [(), ("nope",), ("lib/grants",), ("finish", "reserve")])
def test_missing_or_unknown_script_name_lists_scripts(words: tuple[str, ...]) -> None:
    completed = run(*PRINT_COMMAND, *words)
    assert (completed.returncode, completed.stdout) == (2, "")
    assert completed.stderr.endswith(f"the scripts are: {', '.join(sorted(SCRIPTS))}\n")
    assert " ".join(words) in completed.stderr
