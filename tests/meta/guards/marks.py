"""Marks in the product: ``# guard: name`` in Python, ``{# guard: name #}`` in templates, ``// guard: name``
in JavaScript and ``-- guard: name`` in Lua.

A mark is at the end of its line, or alone in the line above. It marks an argument, an entry, an operand or a
decorator that begins in that line; if there is none, the condition of the ``if``, or else the statement. In
languages other than Python it marks the line.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.meta.mutants.mutant import target_line
from tests.support.planted_faults import ROOT

_MARK = re.compile(r"(?:#|//|--) guard: (?P<names>[a-z0-9-]+(?:, [a-z0-9-]+)*)")
_SUFFIXES = {".py", ".html", ".js", ".lua"}


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int
    replacement: str  # the code in place of the guard


@cache
def guard_files() -> dict[str, list[str]]:
    """The files in which each guard is marked."""
    files: dict[str, list[str]] = defaultdict(list)
    for folder in ("leaseq", "webapp", "lua"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in _SUFFIXES and path.is_file():
                for match in _MARK.finditer(path.read_text()):
                    for name in match["names"].split(", "):
                        files[name].append(path.relative_to(ROOT).as_posix())
    return files


def remove_guard(file: str, text: str, name: str, instead: str | None) -> str:
    """The text of a file without the guard of that name, or with ``instead`` in its place."""
    lines = text.splitlines()
    (number,) = (number for number, line in enumerate(lines, start=1) if name in _guard_names(line))
    number = target_line(lines, number)
    span = _python_span(text, number) if file.endswith(".py") else _line_span(text, number)
    return text[: span.start] + (span.replacement if instead is None else instead) + text[span.end :]


def _guard_names(line: str) -> list[str]:
    match = _MARK.search(line)
    return match["names"].split(", ") if match else []


def _line_span(text: str, number: int) -> Span:
    start = sum(len(line) for line in text.splitlines(keepends=True)[: number - 1])
    return Span(start, text.index("\n", start), "")


def _python_span(source: str, number: int) -> Span:
    positions = _Positions(source)
    tree = ast.parse(source)
    spans = [span for node in ast.walk(tree) for span in _entry_spans(positions, node, number)]
    if spans:
        return max(spans, key=lambda span: span.end - span.start)
    statements = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
    enclosing_statements = [node for node in statements if node.lineno <= number <= (node.end_lineno or 0)]
    statement = max(enclosing_statements, key=lambda node: (node.lineno, node.col_offset))
    if isinstance(statement, ast.If):
        return Span(*positions.range_of(statement.test), "False")
    return Span(*positions.range_of(statement), "pass")


def _entry_spans(positions: _Positions, node: ast.AST, number: int) -> Iterator[Span]:
    """The spans of arguments, entries, operands and decorators that begin in the line."""
    if isinstance(node, ast.BoolOp):
        for index, operand in enumerate(node.values):
            start, end = positions.range_of(operand)
            if index == 0 and positions.begins(number, start):
                yield Span(start, positions.range_of(node.values[1])[0], "")
            elif positions.begins(number, start, "and ", "or "):
                yield Span(positions.range_of(node.values[index - 1])[1], end, "")
    for nodes in _entries(node):
        start, end = positions.range_of(*nodes)
        if positions.begins(number, start):
            yield Span(start, end + (positions.source[end : end + 1] == ","), "")
        elif positions.begins(number, start, "@"):
            yield Span(start - 1, end, "")


def _entries(node: ast.AST) -> Iterator[tuple[_PartNode, ...]]:
    """Each entry's first and last node."""
    match node:
        case ast.Call():
            entries: list[_PartNode] = [*node.args, *node.keywords]
        case ast.Dict():
            yield from ((key, value) for key, value in zip(node.keys, node.values, strict=True) if key)
            return
        case ast.List() | ast.Tuple() | ast.Set():
            entries = [*node.elts]
        case ast.FunctionDef() | ast.ClassDef():
            entries = [*node.decorator_list]
        case _:
            return
    yield from ((entry,) for entry in entries)


_PartNode = ast.expr | ast.stmt | ast.keyword


class _Positions:
    """The positions of nodes in the text; ``ast`` counts lines and bytes."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._lines = source.splitlines(keepends=True)

    def range_of(self, *nodes: _PartNode) -> tuple[int, int]:
        first, last = nodes[0], nodes[-1]
        assert last.end_lineno is not None
        assert last.end_col_offset is not None
        return self._index(first.lineno, first.col_offset), self._index(last.end_lineno, last.end_col_offset)

    def begins(self, number: int, start: int, *prefixes: str) -> bool:
        """Whether the line begins there, or with one of these words before it."""
        line = sum(map(len, self._lines[: number - 1]))
        if not line <= start < line + len(self._lines[number - 1]):
            return False
        return self.source[line:start].lstrip() in ("", *prefixes)

    def _index(self, line: int, column: int) -> int:
        return sum(map(len, self._lines[: line - 1])) + len(self._lines[line - 1].encode()[:column].decode())
