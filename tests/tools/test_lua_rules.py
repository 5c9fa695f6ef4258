"""The rules of the Lua files hold for all of them, and a file that breaks one is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from leaseq.engine.scripts import FILES, SCRIPTS, ScriptError, read_files
from tools.lua_rules import GLOBALS, LuaSource, check


def test_files_of_each_script_keep_the_rules() -> None:
    for name in SCRIPTS:
        check(FILES, name)


def test_scripts_use_only_allowed_globals() -> None:
    """Checked for the complete script as the server gets it."""
    for name, script in SCRIPTS.items():
        source = LuaSource(script.source)
        assert source.used_names - source.declared_names <= GLOBALS, name


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("--- @include none\n", "x.lua includes none, but there is no lib/none.lua"),
        ("--- @include one\n--- @include one\n", "x.lua includes one twice"),
        ("if KEYS then\n  --- @include one\nend\n", "x.lua includes one inside a block"),
        ("local function f()\n--- @include one\nend\n", "x.lua includes one inside a block"),
        ("--- @include two\n", "lib/three.lua includes two, which includes lib/three.lua"),
        ("local a = b\n", "x.lua uses b, which"),
        ("c = 1\n", "x.lua uses c, which"),
        ("return { d }\n", "x.lua uses d, which"),
        ("local t, a = { b = 1 }\na, e = t, 1\n", "x.lua uses e, which"),
        ("--- @include one\nreturn one.hidden(inner)\n", "x.lua uses inner, which"),
        ("--- @include one\nlocal one = 1\n", "x.lua declares one, which"),
        ("--- @include one\nreturn WELL_NOWN\n", "x.lua uses WELL_NOWN, which"),
        ("local WELL_KNOWN = 1\n", "x.lua declares WELL_KNOWN, which is a constant of lib/four.lua"),
    ],
)
def test_file_that_breaks_a_rule_is_found(tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/one.lua").write_text("local one = {}\nfunction one.hidden(inner) return inner end\n")
    (tmp_path / "lib/four.lua").write_text("--- @constant WELL_KNOWN 'a'\n")
    (tmp_path / "lib/two.lua").write_text("--- @include three\n")
    (tmp_path / "lib/three.lua").write_text("--- @include two\n")
    (tmp_path / "x.lua").write_text("#!lua\n" + text)
    with pytest.raises(ScriptError, match=re.escape(error)):
        check(read_files(tmp_path), "x")
