"""How the loader joins a script from its files, and what it refuses."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from leaseq.engine import scripts
from leaseq.engine.scripts import ScriptError, read


@pytest.mark.parametrize(
    ("definitions", "use", "error"),
    [
        ("--- @constant lower 'a'\n", "lower", "lib/one.lua: expected a constant as NAME value"),
        ("--- @constant EMPTY\n", "EMPTY", "lib/one.lua: expected a constant as NAME value"),
        ("--- @constant TWICE 'a'\n--- @constant TWICE 'b'\n", "TWICE", "lib/one.lua defines TWICE, which"),
        ("--- @constant PAIR(a, b) a .. b\n", "PAIR('x')", "x.lua: expected 2 arguments of PAIR, got 1"),
        ("--- @constant PAIR(a, b) a .. b\n", "PAIR", "x.lua: expected 2 arguments of PAIR, got 0"),
    ],
)
def test_invalid_constant_is_refused(tmp_path: Path, definitions: str, use: str, error: str) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/one.lua").write_text(definitions)
    (tmp_path / "x.lua").write_text(f"#!lua\n--- @include one\nreturn {use}\n")
    with pytest.raises(ScriptError, match=re.escape(error)):
        read(tmp_path, "x")


def test_constant_defined_in_two_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    for name in ("one", "two"):
        (tmp_path / f"lib/{name}.lua").write_text("--- @constant SAME 'a'\n")
    (tmp_path / "x.lua").write_text("#!lua\nreturn SAME\n")
    with pytest.raises(ScriptError, match=r"lib/(one|two)\.lua defines SAME, which lib/(one|two)\.lua"):
        read(tmp_path, "x")


def test_constant_is_replaced_by_its_value_before_its_file_is_included(tmp_path: Path) -> None:
    """So an ordinary case can use the grammar of a file that it does not include."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/one.lua").write_text(
        "local one = {}\n"
        "--- @constant PATTERN '^(%d+) name$'\n"
        "--- @constant LINE(name, number) name .. ' name ' .. number\n"
        "function one.match(text) return string.match(text, PATTERN) end\n"
    )
    (tmp_path / "x.lua").write_text(
        "#!lua\n"
        "local PATTERN_TEXT, t = 'PATTERN', {} -- LINE(1)\n"
        "if t.LINE then return LINE(KEYS[1], t.number) end\n"
        "--- @include one\n"
        "return one.match(PATTERN_TEXT)\n"
    )
    script = read(tmp_path, "x")
    assert script.source.split("\n") == [
        "#!lua",
        "local PATTERN_TEXT, t = 'PATTERN', {} -- LINE(1)",
        "if t.LINE then return KEYS[1] .. ' name ' .. t.number end",
        "local one = {}",
        "function one.match(text) return string.match(text, '^(%d+) name$') end",
        "return one.match(PATTERN_TEXT)",
        "",
    ]
    assert script.where(5) == "lib/one.lua:4"


def test_unused_function_is_left_out(tmp_path: Path) -> None:
    """Creating a function costs time in each call. The other lines still match their files."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/one.lua").write_text(
        "local one = {}\n"
        "local function helper(text)\n"
        "  return text\n"
        "end\n"
        "function one.short(text) return helper(text) end\n"
        "function one.of_nothing(text) return one.nothing(text) end\n"
        "function one.nothing(text)\n"
        "  if text then return helper(text) end\n"
        "end\n"
        "function one.given(text) return text end\n"
    )
    (tmp_path / "x.lua").write_text(
        "#!lua\n--- @include one\nlocal all = { one.given }\nreturn one.short('a')\n"
    )
    script = read(tmp_path, "x")
    assert script.source.split("\n") == [
        "#!lua",
        "local one = {}",
        "local function helper(text)",
        "  return text",
        "end",
        "function one.short(text) return helper(text) end",
        "function one.given(text) return text end",
        "local all = { one.given }",
        "return one.short('a')",
        "",
    ]
    assert [script.where(line) for line in (5, 6, 7)] == ["lib/one.lua:4", "lib/one.lua:5", "lib/one.lua:10"]


def test_function_is_placed_where_first_needed(tmp_path: Path) -> None:
    """A script that returns earlier does not pay for it."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/one.lua").write_text(
        "local one = {}\n"
        "local function helper(text)\n"
        "  return text\n"
        "end\n"
        "function one.late(text) return helper(text) end\n"
        "function one.early(text) return text end\n"
    )
    (tmp_path / "lib/two.lua").write_text("--- @include one\nlocal two = one.late('a')\n")
    (tmp_path / "x.lua").write_text(
        "#!lua\n--- @include one\nif KEYS then return one.early('a') end\n--- @include two\nreturn two\n"
    )
    assert read(tmp_path, "x").source.split("\n") == [
        "#!lua",
        "local one = {}",
        "function one.early(text) return text end",
        "if KEYS then return one.early('a') end",
        "local function helper(text)",
        "  return text",
        "end",
        "function one.late(text) return helper(text) end",
        "local two = one.late('a')",
        "return two",
        "",
    ]


def test_file_included_by_two_files_is_joined_once(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/one.lua").write_text("local one = { key = 'a', [2] = 'b' } -- a comment\n\n")
    (tmp_path / "lib/two.lua").write_text("--- @include one\nlocal two = one.key .. one[2]\n")
    (tmp_path / "x.lua").write_text(
        "#!lua\n--[[ What it is.\n]]\n--- @include two\n--- @include one\nreturn one, two\n"
    )
    script = read(tmp_path, "x")
    assert script.source.split("\n")[1:4] == [
        "local one = { key = 'a', [2] = 'b' } -- a comment",
        "local two = one.key .. one[2]",
        "return one, two",
    ]
    assert [script.where(line) for line in (1, 2, 3, 4)] == [
        "x.lua:1",
        "lib/one.lua:1",
        "lib/two.lua:2",
        "x.lua:6",
    ]


def test_scripts_are_joined_at_their_first_use() -> None:
    """Most programs call few of them, and start sooner without the others."""
    program = "import leaseq.queue; from leaseq.engine.scripts import load; print(load.cache_info().currsize)"
    completed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert completed.stdout == "0\n"


def test_script_files_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process keeps its scripts if another version is installed while it runs."""
    scripts.load.cache_clear()
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: pytest.fail("a file is read again"))
    assert scripts.load("history", "journal").source.startswith("#!lua")
