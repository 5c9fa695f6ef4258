"""The table of docs/security.md, from the list of guards."""

from __future__ import annotations

from collections.abc import Iterable

from tests.meta.guards import GUARDS

HEAD = "| what | where | tests that notice |\n|---|---|---|\n"


def table() -> str:
    return HEAD + "".join(map(_table_row, dict.fromkeys(guard.row for guard in GUARDS)))


def _table_row(row: str) -> str:
    guards = [guard for guard in GUARDS if guard.row == row]
    tests = (test for guard in guards for test in guard.nodes)
    return f"| {row} | {_join(guard.file for guard in guards)} | {_join(map(_short_name, tests))} |\n"


def _short_name(test: str) -> str:
    """A test's file, from ``tests/`` on, and its name in words."""
    file, _, name = test.removeprefix("tests/").partition("::")
    return f"{file}: {name.removeprefix('test_').replace('_', ' ')}" if name else file


def _join(words: Iterable[str]) -> str:
    return "; ".join(f"`{word}`" for word in dict.fromkeys(words))
