"""Parses a Lua file for the loader: its includes and their places, and the names it declares and uses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_TOKEN = re.compile(
    r"""---[ ]@(?P<directive>\w+ (?:[ ]\w+)?)   # a line for the loader
      | --\[\[ .*? \]\] | --[^\n]*             # a comment
      | '(?:\\.|[^'\\\n])*' | "(?:\\.|[^"\\\n])*" | \[\[ .*? \]\]
      | ^\#![^\n]* | \d[\w.]* | \.\.\.?
      | [.:]\s*[A-Za-z_]\w*                    # a field of a table
      | (?P<name>[A-Za-z_]\w*)
      | (?P<mark>[{}(),=]=?)""",
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS = frozenset(
    """and break do else elseif end false for function if in local nil not or repeat return then true until
    while""".split()  # noqa: SIM905 - one per line, they would fill a screen
)
_OPEN, _CLOSE = frozenset({"function", "if", "do", "repeat"}), frozenset({"end", "until"})
GLOBALS = frozenset(
    """KEYS ARGV redis cjson string table math error ipairs next pairs select setmetatable tonumber type
    unpack""".split()  # noqa: SIM905
)
"""The globals that a script may use: Lua's own, and the server's."""


@dataclass(frozen=True)
class LuaSource:
    """One Lua file, parsed."""

    text: str

    @cached_property
    def code(self) -> list[tuple[int, str]]:
        """The lines with their numbers, from 1, without comments and empty lines."""
        lines, comment = [], False
        for number, line in enumerate(self.text.splitlines(), 1):
            comment = comment or line.startswith("--[[")
            if not comment and line.strip() and not re.match(r" *--(?!- @)", line):
                lines.append((number, line))
            comment = comment and "]]" not in line
        return lines

    @cached_property
    def _tokens(self) -> list[re.Match[str]]:
        return [token for token in _TOKEN.finditer(self.text) if token.lastgroup]

    @cached_property
    def includes(self) -> list[tuple[str, int]]:
        """The name of each include, and the number of blocks and functions around it."""
        depth, includes = 0, []
        for token in self._tokens:
            word = token["name"]
            depth += (word in _OPEN) - (word in _CLOSE)
            if (directive := token["directive"]) and directive.startswith("include "):
                includes.append((directive.removeprefix("include "), depth))
        return includes

    @cached_property
    def declared_names(self) -> frozenset[str]:
        """All declared names: locals, parameters, loop variables."""
        return frozenset(name for name, _ in self._declarations)

    @cached_property
    def exported_names(self) -> frozenset[str]:
        """The names declared at top level, for the files that include this one."""
        return frozenset(name for name, depth in self._declarations if depth == 0)

    @cached_property
    def used_names(self) -> frozenset[str]:
        """All names that are read or set, without the keys in table constructors."""
        names, braces, tokens = set(), 0, self._tokens
        for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
            braces += (token["mark"] == "{") - (token["mark"] == "}")
            opens = before is not None and before["mark"] in ("{", ",")
            is_key = braces and opens and after is not None and after["mark"] == "="
            if token["name"] and not is_key:
                names.add(token["name"])
        return frozenset(names - _KEYWORDS)

    @cached_property
    def _declarations(self) -> list[tuple[str, int]]:
        depth, tokens, declarations = 0, self._tokens, list[tuple[str, int]]()
        for at, token in enumerate(tokens):
            word = token["name"]
            if word == "local" and tokens[at + 1]["name"] == "function":
                declarations.append((tokens[at + 2]["name"], depth))
            elif word in ("local", "for"):
                declarations += ((name, depth + (word == "for")) for name in _names(tokens, at + 1))
            depth += (word in _OPEN) - (word in _CLOSE)
            if word == "function":
                opening = next(i for i in range(at, len(tokens)) if tokens[i]["mark"] == "(")
                declarations += ((name, depth) for name in _names(tokens, opening + 1))
        return declarations


def _names(tokens: list[re.Match[str]], at: int) -> list[str]:
    """The comma-separated names that begin at this token."""
    names = []
    while at < len(tokens) and tokens[at]["name"] and tokens[at]["name"] not in _KEYWORDS:
        names.append(tokens[at]["name"])
        if at + 1 == len(tokens) or tokens[at + 1]["mark"] != ",":
            break
        at += 2
    return names
