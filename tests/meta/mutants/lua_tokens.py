"""The tokens of Lua 5.1: words, strings, numbers and marks, each with its place in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|\#![^\n]*|--\[(?P<c>=*)\[.*?\](?P=c)\]|--[^\n]*)
  | (?P<string>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\[(?P<s>=*)\[.*?\](?P=s)\])
  | (?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<mark>\.\.\.|\.\.|==|~=|<=|>=|[-+*/%^\#<>=(){}\[\];:,.])
    """,
    re.VERBOSE | re.DOTALL,
)
WORDS = frozenset(
    [
        "and",
        "break",
        "do",
        "else",
        "elseif",
        "end",
        "false",
        "for",
        "function",
        "if",
        "in",
        "local",
        "nil",
        "not",
        "or",
        "repeat",
        "return",
        "then",
        "true",
        "until",
        "while",
    ]
)


class LuaSyntaxError(ValueError):
    pass


@dataclass(slots=True)
class Token:
    kind: str  # string, number, name (also reserved words), mark, end
    text: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise LuaSyntaxError(f"line {text.count(chr(10), 0, at) + 1}: unreadable {text[at : at + 20]!r}")
        kind = next(name for name in ("skip", "string", "number", "name", "mark") if match[name] is not None)
        if kind != "skip":
            found.append(Token(kind, match[0], at, match.end()))
        at = match.end()
    return [*found, Token("end", "", at, at)]
