"""A guard of the security table."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True)
class Guard:
    """A piece of the product that refuses something: ``code``, which occurs once in its file.

    Without it, ``instead`` is in its place. Its tests are those with the mark ``guard(id)``.
    """

    id: str
    file: str
    code: str
    instead: str
    row: str = ""  # of the table in docs/security.md

    @property
    def nodes(self) -> list[str]:
        """Its tests as pytest's node ids."""
        return marked_tests()[self.id]

    def apply(self, text: str) -> str:
        """The text of its file without the guard."""
        if text.count(self.code) != 1:
            raise ValueError(f"{self.id}: expected its code once in {self.file}, got {text.count(self.code)}")
        return text.replace(self.code, self.instead)


def guard(id: str, file: str, code: str, instead: str = "") -> Guard:
    return Guard(id, file, code, instead)


def row(title: str, *guards: Guard) -> Iterator[Guard]:
    return (replace(guard, row=title) for guard in guards)


@cache
def marked_tests() -> dict[str, list[str]]:
    """The tests with the mark ``guard``, by its ids."""
    tests: dict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text()
        if "mark.guard(" not in text:
            continue
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef):
                for id in _guards_of(node):
                    tests[id].append(f"{path.relative_to(ROOT).as_posix()}::{node.name}")
    return tests


def _guards_of(test: ast.FunctionDef) -> Iterator[str]:
    for decorator in test.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.guard":
            yield from (ast.literal_eval(argument) for argument in decorator.args)
