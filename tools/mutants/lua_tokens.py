"""The tokens of Lua 5.1: words, strings, numbers and punctuation, with their positions in the text."""

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
    tokens_before_end, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise LuaSyntaxError(
                f"line {text.count(chr(10), 0, position) + 1}: unreadable {text[position : position + 20]!r}"
            )
        kind = next(name for name in ("skip", "string", "number", "name", "mark") if match[name] is not None)
        if kind != "skip":
            tokens_before_end.append(Token(kind, match[0], position, match.end()))
        position = match.end()
    return [*tokens_before_end, Token("end", "", position, position)]
