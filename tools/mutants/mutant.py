"""A mutant: one small change in one file, made by an operator."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import NamedTuple

_LUA_FUNCTION = re.compile(r"(\s*)(?:local )?function ([\w.:]+)")


class Edit(NamedTuple):
    """Replaces the characters from ``start`` to ``end`` by ``new``."""

    operator: str
    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Mutant:
    file: str
    edit: Edit
    line: int
    ordinal: int  # among the mutants of one operator on one line, from 1

    @property
    def id(self) -> str:
        """``webapp/app.py:12:negate``, and ``webapp/app.py:12:negate:2`` for the second one."""
        suffix = f":{self.ordinal}" if self.ordinal > 1 else ""
        return f"{self.file}:{self.line}:{self.edit.operator}{suffix}"

    def lines_near(self, text: str) -> str:
        """The lines around the change."""
        return "\n".join(text.splitlines()[max(0, self.line - 15) : self.line + 15])

    def apply(self, text: str) -> str:
        return text[: self.edit.start] + self.edit.new + text[self.edit.end :]

    def diff(self, text: str) -> str:
        lines = text.splitlines(), self.apply(text).splitlines()
        return "\n".join(list(unified_diff(*lines, lineterm="", n=1))[2:])


def mutants(
    file: str, text: str, edits: Iterable[Edit], equivalents: Collection[Equivalent] = ()
) -> Iterator[Mutant]:
    """Mutants for the edits in the order of the file, without those that are equivalent."""
    counts: Counter[tuple[int, str]] = Counter()
    lines = text.splitlines()
    for edit in sorted(set(edits), key=lambda edit: (edit.start, edit.end, edit.operator, edit.new)):
        number = text.count("\n", 0, edit.start) + 1
        counts[number, edit.operator] += 1
        ordinal = counts[number, edit.operator]
        if not any(
            equivalent.is_about(file, lines, number, edit.operator, ordinal) for equivalent in equivalents
        ):
            yield Mutant(file, edit, number, ordinal)


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A mutant that changes nothing which can be observed, as equivalent_mutants.toml lists it: by its line's
    text, since every edit of the file would change its number."""

    file: str
    function: str  # qualified by its class and its outer functions; '' outside of any
    operator: str  # ``compare``: all of that operator in the line; ``compare:2``: the second one
    line: str  # its text, without indentation
    reason: str

    def is_about(self, file: str, lines: Sequence[str], number: int, operator: str, ordinal: int) -> bool:
        return (
            file == self.file
            and self.operator in (operator, f"{operator}:{ordinal}")
            and lines[number - 1].strip() == self.line
            and function_at(file, lines, number) == self.function
        )


def function_at(file: str, lines: Sequence[str], number: int) -> str:
    """The function that a line is in, qualified as in ``Queue.finish``; '' if it is in none."""
    if file.endswith(".lua"):
        return _lua_function_at(lines, number)
    name = ""
    nodes: list[ast.AST] = list(ast.parse("\n".join(lines)).body)
    while nodes:
        node = nodes.pop()
        if not getattr(node, "lineno", 0) <= number <= (getattr(node, "end_lineno", None) or 0):
            continue
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            name = f"{name}.{node.name}".lstrip(".")
        nodes = [
            child
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
        ]
    return name


def _lua_function_at(lines: Sequence[str], number: int) -> str:
    indentation = len(lines[number - 1]) - len(lines[number - 1].lstrip())
    for line in reversed(lines[: number - 1]):
        match = _LUA_FUNCTION.match(line)
        if match and len(match[1]) < max(indentation, 1):
            return match[2]
        if line == "end":
            return ""
    return ""
