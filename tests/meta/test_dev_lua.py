"""``./dev lua VERB`` prints a script with the place of each of its lines."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import leaseq
from leaseq.engine.script_table import SCRIPTS

ROOT = Path(leaseq.__file__).parents[1]
PRINT = (sys.executable, "-m", "tests.meta.print_script")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, cwd=ROOT)


def test_each_line_has_its_place_in_the_margin() -> None:
    done = run("./dev", "lua", "finish")
    assert (done.returncode, done.stderr) == (0, "")
    printed = done.stdout.removesuffix("\n").split("\n")
    script = SCRIPTS["finish"]
    width = printed[0].index("#!lua")
    for number, (line, text) in enumerate(
        zip(printed, script.source.removesuffix("\n").split("\n"), strict=True), 1
    ):
        assert line[:width].rstrip() == script.where(number)
        assert line[width:] == text.rstrip()
    assert "\x1b" not in done.stdout, "no colours outside a terminal"


def test_the_help_names_it() -> None:
    assert "\n./dev lua VERB " in run("./dev", "help").stdout


def test_the_margin_is_dim_in_a_terminal() -> None:
    reading, terminal = os.openpty()
    with os.fdopen(reading, "rb", buffering=0) as reader, os.fdopen(terminal, "wb", buffering=0) as writer:
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        subprocess.run([*PRINT, "schema"], stdout=writer, env=environment, check=True, timeout=60, cwd=ROOT)
        first = reader.read(4_096).split(b"\r\n")[0]
    assert re.fullmatch(rb"\x1b\[2mschema\.lua:1 *\x1b\[0m  #!lua flags=no-writes", first)


def test_a_reader_may_leave_before_the_end() -> None:
    done = run("sh", "-c", '"$@" | head -n 1', "sh", *PRINT, "finish")
    assert done.stdout.split() == ["finish.lua:1", "#!lua", "flags=allow-oom"]
    assert done.stderr == ""


@pytest.mark.parametrize("words", [(), ("nope",), ("lib/grants",), ("finish", "reserve")])
def test_where_it_is_given_no_script_it_lists_them(words: tuple[str, ...]) -> None:
    done = run(*PRINT, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f"the scripts are: {', '.join(sorted(SCRIPTS))}\n")
    assert " ".join(words) in done.stderr
