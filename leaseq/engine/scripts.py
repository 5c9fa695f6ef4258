"""The moves: Lua scripts under ``lua/``, joined with their includes and called with EVALSHA."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
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
"""Encodes a command for the server. hiredis's annotations allow only tuples of one word, hence the cast."""

# Text before a script's line in an error of the server: Redis 7 adds the script's SHA, Valkey does not.
_RUNNING_SCRIPT = re.compile(r"\bscript: (?:[0-9a-f]{40}, )?on (?=@user_script:\d)")
_LINE = re.compile(r"@?\buser_script:(\d+)")
# 'end' expected (to close 'if' at line 7) near …
_OPENING_LINE = re.compile(r"(?<=' at )line (\d+)(?=\) near )")


@dataclass(frozen=True, slots=True)
class Script:
    """One script: its name, its keys in order, and its full text."""

    name: str
    keys: tuple[str, ...]  # names of attributes of Keys
    source: str
    sha: str
    lines: tuple[tuple[str, int], ...]  # the file of each line of the source, and its number there

    @property
    def writes(self) -> bool:
        return "no-writes" not in self.source[: self.source.index("\n")]

    def where(self, line: int) -> str:
        """The file and line from which a line of ``source`` comes: ``lib/grants.lua:12``. A line past the end
        counts as the last one: Lua's compiler reports it if an ``end`` is missing."""
        file, number = self.lines[min(line, len(self.lines)) - 1]
        return f"{file}:{number}"

    def places(self, message: str) -> list[str]:
        """The files and lines named in an error of the server, in the form that ``where`` returns."""
        return [self.where(int(line)) for line in _LINE.findall(message)]

    def readable(self, message: str) -> str:
        """The server's error message, with this script's line numbers replaced by files and lines."""
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
        """The script for a cluster, with one more key, which never exists. While a slot is being migrated, a
        node answers TRYAGAIN or ASK if one of the script's keys is missing. If none is missing, it runs the
        script, and aborts it halfway if the script reads a key that does not exist, or creates a second one
        while the first is still being migrated."""
        return BoundScript(self.script, self._queue_keys, self._queue_keys.absent)


@cache
def load(name: str, *keys: str) -> Script:
    return _join(_FILES, name, *keys)


def names() -> list[str]:
    """The names of all scripts."""
    return sorted(file.removesuffix(".lua") for file in _FILES if "/" not in file)


def read(folder: Traversable, name: str, *keys: str) -> Script:
    """Read a script from the folder that contains its file and, in ``lib/``, the files that it includes."""
    return _join(_read_files(folder), name, *keys)


def _join(files: Mapping[str, str], name: str, *keys: str) -> Script:
    """Join a script from its file and those that it includes.

    A line ``--- @include grants`` is replaced by the file ``lib/grants.lua``, after the files which that one
    includes; ``--- @defaults`` and ``--- @texts`` by tables of the policy's fields. Each file is joined once,
    without comments and empty lines, and each function only if the script uses it (see lua_functions).
    Raises ScriptError if a file includes one that does not exist, or another twice, inside a block or in a
    circle, if it uses a name that is declared neither in it nor in a file joined before it, or if it declares
    a name that such a file declares.
    """
    lines = arrange_functions(_Joiner(files).lines(f"{name}.lua"))
    source = "".join(text + "\n" for _, _, text in lines)
    sha = sha1(source.encode(), usedforsecurity=False).hexdigest()
    return Script(name, keys, source, sha, tuple((file, number) for file, number, _ in lines))


class ScriptError(Exception):
    """A Lua file breaks a rule of the loader."""


class _Joiner:
    """Joins the files of one script."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._names = set(GLOBALS)  # names declared so far
        self._begun_files: set[str] = set()
        self._done_files: set[str] = set()

    def lines(self, file: str) -> Iterator[tuple[str, int, str]]:
        """Yield the lines, each with its file and its number there."""
        source = _parse(self._files[file])
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
            if f"lib/{name}.lua" not in self._files:
                raise ScriptError(f"{file} includes {name}, but there is no lib/{name}.lua")
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
                f"{file} declares {', '.join(repeated_names)}, which a file joined before it also declares: "
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
"""The replacement of a directive: the policy's rules or texts, with their defaults, as a Lua table."""


def _read_files(folder: Traversable) -> dict[str, str]:
    """The texts of the Lua files, by name: ``finish.lua``, ``lib/grants.lua``."""
    return {
        f"{prefix}{entry.name}": entry.read_text(encoding="utf-8")
        for prefix, part in (("", folder), ("lib/", folder / "lib"))
        for entry in part.iterdir()
        if entry.name.endswith(".lua")
    }


# In a checkout, `leaseq/lua` links to the folder next to the package. All files are read at once, so that a
# process keeps its scripts if another version is installed while it runs.
_FILES: Final = _read_files(files("leaseq") / "lua")
