"""The rules of the Lua files in lua/, which the loader does not check: an include exists and stands once
outside of all blocks, and a name is declared before its use, in one file only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

from leaseq.engine.scripts import Constant, ScriptError, expand_constants, find_constants

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
TABLES = {"defaults", "texts"}
"""The directives that the loader replaces by a table of the same name in capitals."""


class LuaSource:
    """One Lua file, parsed."""

    def __init__(self, text: str) -> None:
        self._tokens = [token for token in _TOKEN.finditer(text) if token.lastgroup]

    @cached_property
    def directives(self) -> list[tuple[str, str, int]]:
        """The word, the name and the number of blocks and functions around each line for the loader."""
        depth, directives = 0, []
        for token in self._tokens:
            word = token["name"]
            depth += (word in _OPEN) - (word in _CLOSE)
            if directive := token["directive"]:
                kind, _, name = directive.partition(" ")
                directives.append((kind, name, depth))
        return directives

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


def check(files: Mapping[str, str], script: str) -> None:
    """Raise ScriptError if a file of the script breaks a rule. ``files``: their texts, by name."""
    _Walk(files).visit(f"{script}.lua")


class _Walk:
    """A walk through the files of one script, in the order in which the loader joins them."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._constants: dict[str, Constant] = find_constants(files)
        self._names = set(GLOBALS)  # names declared so far
        self._begun: set[str] = set()
        self._done: set[str] = set()

    def visit(self, file: str) -> None:
        if taken_names := sorted(LuaSource(self._files[file]).declared_names & self._constants.keys()):
            definer = self._constants[taken_names[0]].file
            raise ScriptError(
                f"{file} declares {taken_names[0]}, which is a constant of {definer}: rename one"
            )
        source = LuaSource(expand_constants(file, self._files[file], self._constants))
        self._check_includes(file, source)
        self._begun.add(file)
        for kind, name, _ in source.directives:
            if kind in TABLES:
                self._names.add(kind.upper())
            elif f"lib/{name}.lua" not in self._done:
                self.visit(f"lib/{name}.lua")
        self._check_names(file, source)
        self._names |= source.exported_names
        self._done.add(file)

    def _check_includes(self, file: str, source: LuaSource) -> None:
        names = set()
        for kind, name, depth in source.directives:
            if kind in TABLES:
                continue
            if f"lib/{name}.lua" not in self._files:
                raise ScriptError(f"{file} includes {name}, but there is no lib/{name}.lua")
            if name in names:
                raise ScriptError(f"{file} includes {name} twice")
            if depth:
                raise ScriptError(f"{file} includes {name} inside a block: put it outside of all blocks")
            if f"lib/{name}.lua" in {*self._begun, file} - self._done:
                raise ScriptError(f"{file} includes {name}, which includes {file}")
            names.add(name)

    def _check_names(self, file: str, source: LuaSource) -> None:
        if unknown_names := sorted(source.used_names - source.declared_names - self._names):
            raise ScriptError(
                f"{file} uses {', '.join(unknown_names)}, which neither it nor a file that it includes "
                "declares"
            )
        if repeated_names := sorted(source.exported_names & self._names - GLOBALS):
            raise ScriptError(
                f"{file} declares {', '.join(repeated_names)}, which a file joined before it also declares: "
                "rename one"
            )
