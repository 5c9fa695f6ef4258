"""The mutants that operators make of a few lines, the ids of mutants, and that each fault can be planted."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path
from textwrap import dedent

import pytest

from leaseq.engine import scripts
from tests.conftest import Server
from tools.mutants import lua_operators, python_operators, sources
from tools.mutants.faults import FAULTS
from tools.mutants.lua_syntax import parse
from tools.mutants.lua_tokens import LuaSyntaxError
from tools.mutants.mutant import Edit, Equivalent, mutants
from tools.mutants.sampling import is_script, rank, sample
from tools.planted_faults import ROOT, nodes

PYTHON = [
    ("compare", "ended = monotonic() >= until or time.perf_counter() < begin", []),
    (
        "compare",
        "def is_over(until, begin):\n    now = monotonic()\n    return now - begin >= until or begin < 3",
        ["def is_over(until, begin):\n    now = monotonic()\n    return now - begin >= until or begin <= 3"],
    ),
    ("compare", "async def is_over(until):\n    now = monotonic()\n    return now >= until", []),
    ("call", "send(1)", ["pass"]),
    ("call", "log.warning('sent')", []),
    ("set", "self.sent += 1", ["pass"]),
    ("set", "sent[1] = 2", ["pass"]),
    ("negate", "if sent:\n    return_()", ["if (not (sent)):\n    return_()"]),
    ("negate", "found = [one for one in many if one]", ["found = [one for one in many if (not (one))]"]),
    ("part", "found = a and b or c", ["found = a and b", "found = c", "found = a or c", "found = b or c"]),
    ("part", "found = a - b", ["found = (a)", "found = (b)"]),
    ("compare", "found = a < b", ["found = a <= b"]),
    ("compare", "found = a >= b", ["found = a > b"]),
    ("bound", "found = a > 3", ["found = a > 4"]),
    ("bound", "found = a + 1", ["found = a + 0"]),
    ("bound", "found = a[:5]", ["found = a[:6]"]),
    ("limit", "found = min(a, b)", ["found = (a)", "found = (b)"]),
    ("field", "write(a, b=1)", ["write(a)"]),
    ("field", "found = {'a': 1, 'b': 2}", ["found = { 'b': 2}", "found = {'a': 1}"]),
    ("field", "found = ('a', 'b')", ["found = ('b')", "found = ('a')"]),
    ("field", "__all__ = ['a', 'b']", []),
    ("except", "try:\n    a\nexcept KeyError:\n    b", ["try:\n    a\nexcept ZeroDivisionError:\n    b"]),
    (
        "return",
        "def f():\n    if a:\n        return b\n    return c",
        ["def f():\n    if a:\n        pass\n    return c"],
    ),
]
LUA = [
    ("call", "call('DEL', KEY)", ["do end"]),
    ("set", "local a a = 1", ["local a do end"]),
    ("negate", "if a == b then c() end", ["if not (a == b) then c() end"]),
    ("return", "if a then return b end", ["if a then do end end"]),
    ("part", "a = b and c", ["a = b", "a = c"]),
    ("part", "a = b + c", ["a = b", "a = c"]),
    ("compare", "a = b < c", ["a = b <= c"]),
    ("bound", "a = b > 3", ["a = b > 4"]),
    ("bound", "a = b + 1", ["a = b + 0"]),
    ("limit", "a = math.min(b, c)", ["a = (b)", "a = (c)"]),
    ("constant", "local MOST = 100", ["local MOST = 100000"]),
    (
        "field",
        "call('HSET', KEY, 'a', 1, 'b', 2)",
        ["call('HSET', KEY, 'b', 2)", "call('HSET', KEY, 'a', 1)"],
    ),
    ("field", "a = { b = 1, c }", ["a = { c }", "a = { b = 1 }"]),
    ("field", "a = 'b' .. c", ["a = ('b')"]),
    ("option", "call('ZADD', KEY, 'NX', 1, 'a')", ["call('ZADD', KEY, 1, 'a')"]),
    ("option", "call('ZRANGE', KEY, 0, 1, 'LIMIT', 0, 9)", ["call('ZRANGE', KEY, 0, 1)"]),
    ("option", "call('XADD', KEY, 'MAXLEN', '~', 9, at)", ["call('XADD', KEY, at)"]),
    ("order", "call('ZADD', A, 1, 2) call('ZREM', B, 2)", ["call('ZREM', B, 2) call('ZADD', A, 1, 2)"]),
    ("order", "call('ZREM', B, 2) call('ZADD', A, 1, 2)", []),
    ("flags", "#!lua flags=allow-oom\na()", ["#!lua\na()"]),
    ("flags", "#!lua\na()", ["#!lua flags=allow-oom\na()"]),
]


def apply_edits(text: str, edits: list[Edit]) -> list[str]:
    return [mutant.apply(text) for mutant in mutants("some", text, edits)]


@pytest.mark.parametrize(("operator", "text", "expected"), PYTHON)
def test_python_operator_makes_expected_mutants(operator: str, text: str, expected: list[str]) -> None:
    mutant_texts = apply_edits(
        text, [edit for edit in python_operators.edits(text) if edit.operator == operator]
    )
    assert sorted(mutant_texts) == sorted(expected)
    assert all(python_operators.is_program(text, mutant_text) for mutant_text in mutant_texts)


@pytest.mark.parametrize(("operator", "text", "expected"), LUA)
def test_lua_operator_makes_expected_mutants(operator: str, text: str, expected: list[str]) -> None:
    mutant_texts = apply_edits(
        text, [edit for edit in lua_operators.edits(text) if edit.operator == operator]
    )
    assert sorted(mutant_texts) == sorted(expected)
    for mutant_text in mutant_texts:
        parse(mutant_text)


def test_invalid_or_unchanged_program_is_recognized() -> None:
    assert not python_operators.is_program("a = 1", "a = ")
    assert not python_operators.is_program("a = 1", "a = (1)")
    assert python_operators.is_program("a = 1", "a = 2")
    with pytest.raises(LuaSyntaxError, match="line 2"):
        parse("a = 1\nb = = 2")


def test_a_mutant_has_an_id_and_a_diff() -> None:
    text = "a = 1\nif a < b and c < d:\n    e()\n"
    found_mutants = list(mutants("some.py", text, python_operators.edits(text)))
    assert [mutant.id for mutant in found_mutants] == [
        "some.py:2:part",
        "some.py:2:negate",
        "some.py:2:compare",
        "some.py:2:part:2",
        "some.py:2:compare:2",
        "some.py:3:call",
    ]
    assert found_mutants[-1].diff(text).splitlines()[1:] == [" if a < b and c < d:", "-    e()", "+    pass"]


def test_equivalent_mutants_are_left_out() -> None:
    text = dedent("""\
        class A:
            def first(self):
                a(b < c)

            def second(self):
                a(b < c)
                a = min(b, c)
        """)
    equivalents = (
        Equivalent("some.py", "A.first", "compare", "a(b < c)", "they are never equal"),
        Equivalent("some.py", "A.second", "limit:2", "a = min(b, c)", "b is never more than c"),
        Equivalent("other.py", "A.second", "limit:1", "a = min(b, c)", "in another file"),
    )
    found_mutants = list(mutants("some.py", text, python_operators.edits(text), equivalents))
    expected_ids = ["some.py:3:call", "some.py:6:call", "some.py:6:compare", "some.py:7:limit"]
    assert [mutant.id for mutant in found_mutants] == expected_ids


def test_each_equivalent_mutant_exists() -> None:
    for equivalent in sources.equivalents():
        text = sources.text(equivalent.file)
        operators = lua_operators if equivalent.file.endswith(".lua") else python_operators
        all_mutants = set(mutants(equivalent.file, text, operators.edits(text)))
        remaining_mutants = set(mutants(equivalent.file, text, operators.edits(text), [equivalent]))
        assert all_mutants - remaining_mutants, f"{equivalent} of equivalent_mutants.toml is not there"


def test_rank_of_mutant_is_unchanged_by_edits_of_other_lines() -> None:
    text = "def f():\n    if a < b:\n        return c + 1\n    return d\n"
    longer = "import g\n\n\n" + text.replace("return d", "return d - 1")
    before = {rank(7, mutant, text) for mutant in mutants("some.py", text, python_operators.edits(text))}
    after = {rank(7, mutant, longer) for mutant in mutants("some.py", longer, python_operators.edits(longer))}
    assert len(before) == 4
    assert before < after
    assert before.isdisjoint(
        rank(8, mutant, text) for mutant in mutants("some.py", text, python_operators.edits(text))
    )


def test_sample_is_reproducible_from_seed(tmp_path: Path) -> None:
    first_sample = sample(7, 6, ("lua/pause", "leaseq/suggest", "webapp/notes"))
    assert first_sample == sample(7, 6, ("lua/pause", "leaseq/suggest", "webapp/notes"))
    assert len(set(first_sample)) == 6


def test_lua_mutants_keep_line_numbers_and_leave_no_blank_line() -> None:
    """So the server's errors name the same lines, and a test of the layout alone can't catch a mutant."""
    for file in sources.files("lua"):
        text = sources.text(file)
        for mutant in sources.mutants_of(file):
            if mutant.edit.operator in {"call", "set", "return", "field", "option"}:
                mutant_text = mutant.apply(text)
                if mutant.edit.operator in {"call", "set", "return"}:
                    assert mutant_text.count("\n") == text.count("\n"), mutant.id
                assert not re.search(r"^[ \t]+$", mutant_text, re.MULTILINE), mutant.id


@pytest.mark.parametrize("part", sources.PARTS)
def test_tests_for_file_are_existing_test_files(part: str) -> None:
    file = random.Random(1).choice(list(sources.files(part)))
    tests = sources.tests_for(file, sources.text(file))
    assert len(tests) > 5
    assert all((ROOT / test).is_file() for test in tests)


def test_each_fault_can_be_planted(server: Server, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "lua", tmp_path / "lua")
    for fault in FAULTS:
        text = (ROOT / fault.file).read_text()
        assert fault.tests, fault.id
        assert all(nodes(test) for test in fault.tests), fault.id
        if fault.file.endswith(".py"):
            assert python_operators.is_program(text, fault.apply(text)), fault.id
        else:
            assert Path(fault.file).stem in sorted(scripts.SCRIPTS), fault.id
            assert is_script(fault.file, fault.apply(text), tmp_path / "lua", server.redis), fault.id


def test_script_with_syntax_error_is_recognized(server: Server, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "lua", tmp_path / "lua")
    name = sorted(scripts.SCRIPTS)[0]
    assert not is_script(f"lua/{name}.lua", "a = = 1", tmp_path / "lua", server.redis)
