"""The moves: Lua scripts under ``lua/``, joined with their includes and called by EVALSHA."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha1
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final, cast

from hiredis import pack_command

from leaseq.engine.keys import Keys
from leaseq.engine.lua_functions import arrange_functions
from leaseq.engine.lua_source import GLOBALS, LuaSource
from leaseq.engine.policy_codec import rule_defaults, text_defaults

pack: Callable[[tuple[Any, ...]], bytes] = cast("Any", pack_command)
"""A command as the server reads it; what hiredis says of its types is of tuples with one word."""

# In an error of the server, before the line of a script: Redis 7 adds the script's SHA, Valkey does not.
_RUNNING_SCRIPT = re.compile(r"\bscript: (?:[0-9a-f]{40}, )?on (?=@user_script:\d)")
_LINE = re.compile(r"@?\buser_script:(\d+)")
# 'end' expected (to close 'if' at line 7) near …
_OPENING_LINE = re.compile(r"(?<=' at )line (\d+)(?=\) near )")


@dataclass(frozen=True, slots=True)
class Script:
    """One script: its name, its keys in order, and its whole text."""

    name: str
    keys: tuple[str, ...]  # names of attributes of Keys
    source: str
    sha: str
    lines: tuple[tuple[str, int], ...]  # the file of each line of the source, and its number there

    @property
    def writes(self) -> bool:
        return "no-writes" not in self.source.partition("\n")[0]

    def where(self, line: int) -> str:
        """The file and line that a line of ``source`` comes from: ``lib/grants.lua:12``. A line past the
        end counts as the last one: Lua's compiler reports it for a missing ``end``."""
        file, number = self.lines[min(line, len(self.lines)) - 1]
        return f"{file}:{number}"

    def places(self, message: str) -> list[str]:
        """The files and lines that an error of the server names, as ``where`` gives them."""
        return [self.where(int(line)) for line in _LINE.findall(message)]

    def readable(self, message: str) -> str:
        """The server's error message, with files and lines in place of this script's line numbers."""
        message = _RUNNING_SCRIPT.sub(f"script: {self.name}, on ", message)
        for pattern in (_LINE, _OPENING_LINE):
            message = pattern.sub(lambda match: self.where(int(match[1])), message)
        return message


class BoundScript:
    """A script with the keys of one queue."""

    def __init__(self, script: Script, keys: Keys, *extra_keys: str) -> None:
        self.script = script
        self.keys: tuple[str, ...] = (*(getattr(keys, name) for name in script.keys), *extra_keys)
        self._queue_keys = keys
        self.words = ("EVALSHA", script.sha, str(len(self.keys)), *self.keys)

    @cached_property
    def for_cluster(self) -> BoundScript:
        """The arguments for a cluster: with one key more, which never exists. A node answers TRYAGAIN or
        ASK where one of a script's keys is missing and their slot is being migrated. Where none is
        missing at first it runs the script, and aborts it halfway when that reads a key which does not
        exist, or creates a second one while the first is still being migrated."""
        return BoundScript(self.script, self._queue_keys, self._queue_keys.absent)


@cache
def load(name: str, *keys: str) -> Script:
    return read(_folder(), name, *keys)


def names() -> list[str]:
    """The names of all scripts."""
    file_names = (entry.name for entry in _folder().iterdir())
    return sorted(name.removesuffix(".lua") for name in file_names if name.endswith(".lua"))


def read(folder: Traversable, name: str, *keys: str) -> Script:
    """A script from the folder that has its file and, in ``lib/``, the files that it includes.

    A line ``--- @include grants`` stands for the file ``lib/grants.lua``, behind those that it includes;
    ``--- @defaults`` and ``--- @texts`` for tables of the policy's fields. Each file is joined once, without
    comments and empty lines; each function only where the script uses it (see lua_functions).
    Raises ScriptError where a file includes another one twice, from inside a block or in a circle, and where
    it uses a name that neither it nor a file joined ahead of it declares, or declares one that such a file
    declares.
    """
    lines = arrange_functions(_Joiner(folder).lines(f"{name}.lua"))
    source = "".join(text + "\n" for _, _, text in lines)
    sha = sha1(source.encode(), usedforsecurity=False).hexdigest()
    return Script(name, keys, source, sha, tuple((file, number) for file, number, _ in lines))


class ScriptError(Exception):
    """A Lua file breaks a rule of the loader."""


class _Joiner:
    """One script while its files are joined."""

    def __init__(self, folder: Traversable) -> None:
        self._folder = folder
        self._names = set(GLOBALS)  # that are declared so far
        self._begun_files: set[str] = set()
        self._done_files: set[str] = set()

    def lines(self, file: str) -> Iterator[tuple[str, int, str]]:
        """The lines, each with its file and its number there."""
        source = _parse((self._folder / file).read_text(encoding="utf-8"))
        self._check_includes(file, source)
        self._begun_files.add(file)
        for number, line in source.code:
            directive, _, name = line.partition("--- @")[2].partition(" ")
            if make := _TABLES.get(directive):
                self._names.add(directive.upper())
                yield file, number, f"local {directive.upper()} = {make()}"
            elif not directive:
                yield file, number, line
            elif f"lib/{name}.lua" not in self._done_files:
                yield from self.lines(f"lib/{name}.lua")
        self._check_names(file, source)
        self._names |= source.exported_names
        self._done_files.add(file)

    def _check_includes(self, file: str, source: LuaSource) -> None:
        names = set()
        for name, depth in source.includes:
            if name in names:
                raise ScriptError(f"{file} includes {name} twice")
            if depth:
                raise ScriptError(f"{file} includes {name} inside a block: put it outside of all blocks")
            if f"lib/{name}.lua" in {*self._begun_files, file} - self._done_files:
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
                f"{file} declares {', '.join(repeated_names)}, as a file does that is joined ahead of it: "
                "rename one"
            )


@cache
def _parse(text: str) -> LuaSource:
    return LuaSource(text)


def _defaults() -> str:
    words = {name: f"'{value}'" if value != "-" else "false" for name, value in rule_defaults().items()}
    return f"{{ {', '.join(f'{name} = {word}' for name, word in sorted(words.items()))} }}"


def _texts() -> str:
    fields = (f"{{ name = '{name}', default = '{value}' }}" for name, value in text_defaults().items())
    return f"{{ {', '.join(fields)} }}"


_TABLES: Final = {"defaults": _defaults, "texts": _texts}
"""What stands for a directive: the policy's rules or its texts, with the default of each, as a Lua table."""


@cache
def _folder() -> Traversable:
    """In a checkout, ``leaseq/lua`` is a link to the folder beside the package."""
    return files("leaseq") / "lua"
