"""The scripts as files: their headers describe arguments and replies, and the loader joins all of them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

import leaseq
from leaseq.engine.keys import Keys
from leaseq.engine.scripts import SCRIPTS, expand_constants, find_constants
from tests.conftest import Server

LUA = Path(leaseq.__file__).parents[1] / "lua"
FILES = {path.stem: path.read_text() for path in LUA.glob("*.lua")}
INCLUDES = {path.stem: path.read_text() for path in LUA.glob("lib/*.lua")}


def header(name: str) -> str:
    match = re.match(r"#!lua.*\n--\[\[(.*?)\]\]", FILES[name], re.DOTALL)
    assert match, f"{name}.lua begins with #!lua and a comment"
    return match[1]


def section(name: str, begin: str, end: str) -> str:
    return header(name).partition(f"\n{begin} ")[2].partition(f"\n{end} ")[0]


def keys(name: str) -> tuple[str, ...]:
    """Return the keys in a header, in order."""
    text = section(name, "KEYS", "ARGV")
    other = re.match(r" +as (\w+)\.lua", text)
    if other:
        return keys(other[1])
    matches = re.findall(r"\b(\d+) leaseq:\{q\}:(\w+)", text)
    assert [int(number) for number, _ in matches] == list(range(1, len(matches) + 1))
    return tuple(key for _, key in matches)


def test_script_files_match_scripts() -> None:
    assert set(FILES) == set(SCRIPTS)


def test_header_lists_keys_of_script() -> None:
    for name in FILES:
        assert keys(name) == SCRIPTS[name].keys, name
        real = Keys("q")
        assert [getattr(real, key) for key in keys(name)] == [f"leaseq:{{q}}:{key}" for key in keys(name)], (
            name
        )


def test_variable_of_each_key_has_name_of_key() -> None:
    for name, text in FILES.items():
        for names, places in re.findall(r"^local ([A-Z, ]+) = ((?:KEYS\[\d+\],? ?)+)$", text, re.MULTILINE):
            for variable, number in zip(names.split(", "), re.findall(r"\d+", places), strict=True):
                assert variable.lower() == SCRIPTS[name].keys[int(number) - 1], name


def test_header_lists_reply_codes() -> None:
    for name, text in FILES.items():
        codes = set(re.findall(r"\{'([a-z-]+)'", header(name).partition("\nREPLY")[2]))
        answers = set(re.findall(r"return \{ '([a-z-]+)'", text))
        assert answers - {"leased"} <= codes - {"leased"}, f"{name}: a lease may be a part of another reply"


def test_include_files_match_includes_in_scripts() -> None:
    texts = {**FILES, **INCLUDES}.values()
    used_names = {
        include for text in texts for include in re.findall(r"^ *--- @include (\w+)$", text, re.MULTILINE)
    }
    assert used_names == set(INCLUDES)


def test_each_constant_is_used() -> None:
    constants = find_constants(INCLUDES)
    code = "".join(re.sub("--.*", "", text) for text in (*FILES.values(), *INCLUDES.values()))
    assert {name for name in constants if not re.search(rf"\b{name}\b", code)} == set()


def test_server_loads_expanded_script(server: Server) -> None:
    for name in FILES:
        script = SCRIPTS[name]
        assert "@include" not in script.source, name
        assert server.redis.script_load(script.source) == script.sha, name


def test_no_script_uses_os_module_of_lua() -> None:
    for name in FILES:
        assert "os." not in SCRIPTS[name].source, name


def test_script_flags_match_writes_and_memory_growth() -> None:
    flags = {
        name: (re.search(r"flags=(\S+)", text.split("\n")[0]) or [""])[0] for name, text in FILES.items()
    }
    readers = {name for name, flag in flags.items() if flag == "flags=no-writes"}
    assert readers == {
        "dump",
        "dump_items",
        "get",
        "history",
        "items",
        "journal",
        "late_items",
        "mine",
        "outcomes",
        "person_items",
        "policy",
        "schema",
        "stats",
        "stopped",
        "waiting_rows",
        "why_nothing",
    }
    growing_scripts = {"enqueue", "change", "configure", "restore", "load", "load_items"}
    assert {name for name, flag in flags.items() if not flag} == growing_scripts
    for name in readers:
        assert not re.search(r"call\('(H(SET|DEL|INCRBY)|Z(ADD|REM)|X(ADD|TRIM))'", FILES[name])


def test_every_zrangebyscore_has_limit() -> None:
    """It is one command for any number of entries, which blocks the server meanwhile."""
    for name in FILES:
        _, *calls = SCRIPTS[name].source.split("'ZRANGEBYSCORE'")
        assert all("'LIMIT', 0, " in "".join(call.split("\n")[:2]) for call in calls)


TABLES = ("--- @defaults", "--- @texts")  # lines that are replaced by tables of the policy's fields


@cache
def expanded_lines(file: str) -> list[str]:
    """The lines of a file with the values of the constants."""
    files = {f"lib/{name}.lua": text for name, text in INCLUDES.items()}
    return expand_constants(file, (LUA / file).read_text(), find_constants(files)).split("\n")


def source_lines(name: str) -> list[str]:
    return SCRIPTS[name].source.removesuffix("\n").split("\n")


def test_every_expanded_line_maps_to_its_source_line() -> None:
    for name, text in FILES.items():
        script, places = SCRIPTS[name], list[tuple[str, int]]()
        for number, line in enumerate(source_lines(name), 1):
            file, _, file_number = script.where(number).rpartition(":")
            file_line = expanded_lines(file)[int(file_number) - 1]
            table = file_line.removeprefix("--- @") if file_line in TABLES else None
            assert line.startswith(f"local {table.upper()} = ") if table else file_line == line, name
            places.append((file, int(file_number)))
        own_lines = [file_number for file, file_number in places if file == f"{name}.lua"]
        lines = text.partition("]]\n")
        code = [line for line in lines[2].split("\n") if line in TABLES or re.match(r" *(?!--)[^ ]", line)]
        assert len(own_lines) == 1 + len(code), f"{name}: all lines except comments and empty ones"


def test_line_past_end_maps_to_last_line() -> None:
    script = SCRIPTS["schema"]
    last = script.source.count("\n")
    assert script.where(last + 1) == script.where(last) == f"schema.lua:{FILES['schema'].count(chr(10))}"


@pytest.mark.parametrize("name", ["reserve", "finish"])
def test_expanded_script_has_at_most_1000_lines(name: str) -> None:
    assert SCRIPTS[name].source.count("\n") <= 1_000


def test_each_source_line_is_joined_once() -> None:
    for name in FILES:
        assert len(SCRIPTS[name].lines) == len(set(SCRIPTS[name].lines)), name


@pytest.mark.parametrize("name", ["clear", "finish", "reserve"])
def test_ordinary_case_returns_before_function_is_created(name: str) -> None:
    ordinary_case = FILES[name].partition("--- @include ")[0]
    assert "return {" in ordinary_case
    assert "function" not in re.sub("--.*", "", ordinary_case)


def test_script_contains_exactly_functions_that_it_uses() -> None:
    for name in FILES:
        source = SCRIPTS[name].source
        own_functions = set(re.findall(r"^function (\w+\.\w+)\(", source, re.MULTILINE))
        all_functions = set(re.findall(r"^function (\w+\.\w+)\(", "".join(INCLUDES.values()), re.MULTILINE))
        assert set(re.findall(r"\b\w+\.\w+\b", source)) & all_functions == own_functions, name


def test_every_key_used_in_lua_is_defined_in_keys() -> None:
    sources = "".join(script.source for script in SCRIPTS.values())
    used_keys = set(re.findall(r"\bkeys\.(\w+)", sources))
    assert used_keys <= {name for name in dir(Keys) if not name.startswith("_")} | {"later", "seen"}
