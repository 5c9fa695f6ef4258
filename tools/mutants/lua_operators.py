"""Operators for Lua. They use the language and Redis's commands, but no file or function of the product."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from tools.mutants.lua_syntax import Node, parse
from tools.mutants.mutant import Edit

COMPARISON_SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
# Commands whose arguments after the key are pairs of a field and a value, or of a score and a member.
_IN_PAIRS = {"HSET", "ZADD"}
# Options of commands, and how many arguments belong to them.
_OPTIONS = {"NX": 0, "XX": 0, "GT": 0, "LT": 0, "KEEPTTL": 0, "PX": 1, "EX": 1, "LIMIT": 2, "MAXLEN": 1}
_ADD = {"ZADD", "HSET", "XADD", "SADD", "SET"}
_REMOVE = {"ZREM", "HDEL", "DEL", "SREM"}
_FLAGS = re.compile(r"#!lua(?P<flags> flags=\S+)?")


def edits(text: str) -> Iterator[Edit]:
    yield from _flags(text)
    for node in parse(text).walk():
        for operator in _OPERATORS:
            yield from operator(text, node)


def _flags(text: str) -> Iterator[Edit]:
    """A script without its flags, or with the one that lets it write when memory is full."""
    match = _FLAGS.match(text)
    if match:
        yield Edit("flags", 0, match.end(), "#!lua" if match["flags"] else "#!lua flags=allow-oom")


def _statement(text: str, node: Node) -> Iterator[Edit]:
    """A call or an assignment dropped."""
    if node.kind in {"call", "set"} and (node.kind == "set" or node.parts[0].kind == "call"):
        is_call_statement = node.kind == "call" and len(node.parts) == 1
        if node.kind == "set" or is_call_statement:
            yield _empty_statement(text, node.kind, node)


def _return(text: str, node: Node) -> Iterator[Edit]:
    """A return inside an if or a loop dropped, so that the code after it also runs."""
    if node.kind in {"if", "while", "repeat", "for"}:
        for block in node.parts:
            if block.kind == "block" and block.parts and block.parts[-1].kind == "return":
                yield _empty_statement(text, "return", block.parts[-1])


def _negate(text: str, node: Node) -> Iterator[Edit]:
    if node.kind in {"if", "while", "repeat"}:
        for condition in node.parts:
            if condition.kind != "block" and condition.text != "true":
                yield Edit("negate", condition.start, condition.end, f"not ({_source_of(text, condition)})")


def _part(text: str, node: Node) -> Iterator[Edit]:
    """``a and b`` as ``a``, and as ``b``; a sum without one of its terms."""
    if node.kind == "binary" and (
        node.text in {"and", "or"}
        or (node.text in {"+", "-"} and all(part.kind != "number" for part in node.parts))
    ):
        for part in node.parts:
            yield Edit("part", node.start, node.end, _source_of(text, part))


def _compare(text: str, node: Node) -> Iterator[Edit]:
    if node.kind == "binary" and node.text in COMPARISON_SWAPS:
        yield Edit("compare", node.mark, node.mark + len(node.text), COMPARISON_SWAPS[node.text])


def _bound(text: str, node: Node) -> Iterator[Edit]:
    """A number in a comparison one higher; one that is added or subtracted one lower."""
    if node.kind == "binary" and node.text in {*COMPARISON_SWAPS, "==", "~=", "+", "-"}:
        shift = -1 if node.text in {"+", "-"} else 1
        for part in node.parts:
            if part.kind == "number" and part.text.isdigit():
                yield Edit("bound", part.start, part.end, str(int(part.text) + shift))


def _constant(text: str, node: Node) -> Iterator[Edit]:
    """A limit, a number in capitals, a thousand times as high."""
    if node.kind == "local" and re.match(r"local [A-Z]", text[node.start :]):
        for value in node.parts:
            if value.kind == "number":
                yield Edit("constant", value.start, value.end, f"{value.text}000")


def _limit(text: str, node: Node) -> Iterator[Edit]:
    """``math.min(a, b)`` as ``a``, and as ``b``."""
    if (
        node.kind == "call"
        and _function_name(text, node) in {"math.min", "math.max"}
        and len(node.parts) == 3
    ):
        for argument in node.parts[1:]:
            yield Edit("limit", node.start, node.end, f"({_source_of(text, argument)})")


def _field(text: str, node: Node) -> Iterator[Edit]:
    """One of several pairs that HSET or ZADD writes dropped, an entry of a table, or a part of a
    concatenation."""
    if node.kind == "call" and _command(node) in _IN_PAIRS:
        pairs = node.parts[3:]
        if len(pairs) >= 4 and len(pairs) % 2 == 0:
            yield from (_drop_listed(text, "field", pairs, index, 2) for index in range(0, len(pairs), 2))
    elif node.kind == "table" and (len(node.parts) > 1 or any(map(_has_name, node.parts))):
        yield from (_drop_listed(text, "field", node.parts, index, 1) for index in range(len(node.parts)))
    elif node.kind == "binary" and node.text == "..":
        left, right = node.parts
        for operand, remaining in ((left, right), (right, left)):
            if operand.kind not in {"string", "binary"}:
                yield Edit("field", node.start, node.end, f"({_source_of(text, remaining)})")


def _option(text: str, node: Node) -> Iterator[Edit]:
    """An option of a command dropped: NX, LIMIT, MAXLEN …"""
    if node.kind == "call" and _command(node):
        for index, argument in enumerate(node.parts[3:], start=3):
            count = _OPTIONS.get(argument.text.strip("'\"")) if argument.kind == "string" else None
            if count is not None:
                end = min(
                    index + count + (_unquoted(node.parts[index + 1 : index + 2]) == "~"), len(node.parts) - 1
                )
                yield _drop(text, "option", node.parts[index - 1].end, node.parts[end].end)


def _order(text: str, node: Node) -> Iterator[Edit]:
    """A write that adds and the one right after it that removes, swapped: if the server stops between
    them, the member is in neither."""
    if node.kind == "block":
        for statement, next_statement in pairwise(node.parts):
            if _statement_command(statement) in _ADD and _statement_command(next_statement) in _REMOVE:
                between = text[statement.end : next_statement.start]
                yield Edit(
                    "order",
                    statement.start,
                    next_statement.end,
                    _source_of(text, next_statement) + between + _source_of(text, statement),
                )


_OPERATORS = (
    *(_statement, _return, _negate, _part, _compare, _bound),
    *(_constant, _limit, _field, _option, _order),
)


def _source_of(text: str, node: Node) -> str:
    return text[node.start : node.end]


def _empty_statement(text: str, operator: str, statement: Node) -> Edit:
    """An empty statement in its place. Its lines stay, so that all others keep their numbers."""
    lines = "\n" * text.count("\n", statement.start, statement.end)
    return Edit(operator, statement.start, statement.end, f"do end{lines}")


def _drop(text: str, operator: str, start: int, end: int) -> Edit:
    """Its lines also stay, empty and without blanks: the loader drops only empty lines."""
    line = text.rfind("\n", 0, start) + 1
    if "\n" in text[start:end] and not text[line:start].strip():
        start = line
    return Edit(operator, start, end, "\n" * text.count("\n", start, end))


def _drop_listed(text: str, operator: str, nodes: list[Node], index: int, count: int) -> Edit:
    """This many comma-separated elements, with a comma."""
    if index + count < len(nodes):
        return _drop(text, operator, nodes[index].start, nodes[index + count].start)
    start = nodes[index - 1].end if index else nodes[index].start
    return _drop(text, operator, start, nodes[-1].end)


def _function_name(text: str, call: Node) -> str:
    return _source_of(text, call.parts[0])


def _command(call: Node) -> str:
    """``HSET`` for ``call('HSET', …)``, '' for any other call."""
    word = _unquoted(call.parts[1:2])
    return word if word.isupper() else ""


def _unquoted(nodes: Iterable[Node]) -> str:
    return next((node.text[1:-1] for node in nodes if node.kind == "string"), "")


def _statement_command(statement: Node) -> str:
    """The command of a statement that is a single ``call``, else ''."""
    return _command(statement.parts[0]) if statement.kind == "call" and len(statement.parts) == 1 else ""


def _has_name(entry: Node) -> bool:
    return entry.kind == "named entry"
