"""The moves as files: their headers say what they take and answer, and the loader joins all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import leaseq
from leaseq.engine.commands import SCRIPTS, Commands
from leaseq.engine.keys import Keys
from tests.conftest import Server

LUA = Path(leaseq.__file__).parents[1] / "lua"
FILES = {path.stem: path.read_text() for path in LUA.glob("*.lua")}
INCLUDES = {path.stem: path.read_text() for path in LUA.glob("includes/*.lua")}


def header(name: str) -> str:
    found = re.match(r"#!lua.*\n--\[\[(.*?)\]\]", FILES[name], re.DOTALL)
    assert found, f"{name}.lua begins with #!lua and a comment"
    return found[1]


def section(name: str, begin: str, end: str) -> str:
    return header(name).partition(f"\n{begin} ")[2].partition(f"\n{end} ")[0]


def keys(name: str) -> tuple[str, ...]:
    """The keys that a header names, in order."""
    text = section(name, "KEYS", "ARGV")
    other = re.match(r" +as (\w+)\.lua", text)
    if other:
        return keys(other[1])
    found = re.findall(r"\b(\d+) leaseq:\{q\}:(\w+)", text)
    assert [int(number) for number, _ in found] == list(range(1, len(found) + 1))
    return tuple(key for _, key in found)


def test_each_file_is_a_move_and_each_move_a_file() -> None:
    assert set(FILES) == set(SCRIPTS)
    for name in SCRIPTS:
        assert callable(getattr(Commands, name))


@pytest.mark.parametrize("name", sorted(FILES))
def test_the_header_names_the_keys_that_it_is_given(name: str) -> None:
    assert keys(name) == SCRIPTS[name].keys
    real = Keys("q")
    assert [getattr(real, key) for key in keys(name)] == [f"leaseq:{{q}}:{key}" for key in keys(name)]


@pytest.mark.parametrize("name", sorted(FILES))
def test_each_key_is_called_by_its_name(name: str) -> None:
    for names, places in re.findall(
        r"^local ([A-Z, ]+) = ((?:KEYS\[\d+\],? ?)+)$", FILES[name], re.MULTILINE
    ):
        for called, place in zip(names.split(", "), re.findall(r"\d+", places), strict=True):
            assert called.lower() == SCRIPTS[name].keys[int(place) - 1]


@pytest.mark.parametrize("name", sorted(FILES))
def test_the_header_says_what_it_may_answer(name: str) -> None:
    said = set(re.findall(r"\{'([a-z-]+)'", header(name).partition("\nREPLY")[2]))
    answers = set(re.findall(r"return \{ '([a-z-]+)'", SCRIPTS[name].source))
    assert answers - {"leased"} <= said - {"leased"}, "a lease may come inside an answer"


def test_each_include_is_used_and_each_that_is_used_is_there() -> None:
    texts = {**FILES, **INCLUDES}.values()
    used = {
        include for text in texts for include in re.findall(r"^ *--- @include (\w+)$", text, re.MULTILINE)
    }
    assert used == set(INCLUDES)


@pytest.mark.parametrize("name", sorted(FILES))
def test_the_server_takes_it_whole(server: Server, name: str) -> None:
    script = SCRIPTS[name]
    assert "@include" not in script.source
    assert server.redis.script_load(script.source) == script.sha


@pytest.mark.parametrize("name", sorted(FILES))
def test_no_script_asks_what_the_time_is_twice_or_elsewhere(name: str) -> None:
    assert SCRIPTS[name].source.count("'TIME'") <= 1
    assert "os." not in SCRIPTS[name].source


def test_what_changes_nothing_says_so_and_what_must_work_in_full_memory_too() -> None:
    flags = {
        name: (re.search(r"flags=(\S+)", text.split("\n")[0]) or [""])[0] for name, text in FILES.items()
    }
    reads = {name for name, flag in flags.items() if flag == "flags=no-writes"}
    assert reads == {
        "get",
        "items",
        "journal",
        "late_items",
        "mine",
        "policy",
        "schema",
        "stats",
        "story",
        "why_nothing",
    }
    assert {name for name, flag in flags.items() if not flag} == {"enqueue", "configure"}
    for name in reads:
        assert not re.search(r"call\('(H(SET|DEL|INCRBY)|Z(ADD|REM)|X(ADD|TRIM))'", FILES[name])


def source_lines(name: str) -> list[str]:
    return SCRIPTS[name].source.removesuffix("\n").split("\n")


@pytest.mark.parametrize("name", sorted(FILES))
def test_each_line_of_a_script_is_found_in_its_file(name: str) -> None:
    script, found = SCRIPTS[name], []
    for number, line in enumerate(source_lines(name), 1):
        file, _, place = script.where(number).rpartition(":")
        assert (LUA / file).read_text().split("\n")[int(place) - 1] == line
        found.append((file, int(place)))
    own = [place for file, place in found if file == f"{name}.lua"]
    lines = FILES[name].removesuffix("\n").split("\n")
    assert own == [place for place, line in enumerate(lines, 1) if "--- @include " not in line]


def test_a_line_past_the_end_is_the_last_one() -> None:
    script = SCRIPTS["schema"]
    last = script.source.count("\n")
    assert script.where(last + 1) == script.where(last) == f"schema.lua:{FILES['schema'].count(chr(10))}"
