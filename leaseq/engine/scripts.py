"""The moves: Lua scripts under ``lua/``, joined with their includes and called by EVALSHA."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha1
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple, cast

from hiredis import pack_command

from leaseq.engine.keys import Keys

pack: Callable[[tuple[str, ...]], bytes] = cast("Any", pack_command)
"""A command as the server reads it; what hiredis says of its types is of tuples with one word."""

# In an error of the server, before the line of a script: Redis 7 adds the script's SHA, Valkey does not.
_RUNNING = re.compile(r"\bscript: (?:[0-9a-f]{40}, )?on (?=@user_script:\d)")
_LINE = re.compile(r"@?\buser_script:(\d+)")
_OPENED = re.compile(r"(?<=' at )line (\d+)(?=\) near )")  # 'end' expected (to close 'if' at line 7) near …
_INCLUDE = re.compile(r"^ *--- @include (\w+)\n", re.MULTILINE)


class Part(NamedTuple):
    """Lines that follow each other both in a file and in the script that it is a part of."""

    start: int  # the number of the first of them in the script
    file: str  # relative to lua/
    line: int  # the number of the first of them in the file


@dataclass(frozen=True, slots=True)
class Script:
    """One move: its name, the keys that it takes in their order, and its whole text."""

    name: str
    keys: tuple[str, ...]  # names of attributes of Keys
    source: str
    sha: str
    parts: tuple[Part, ...]

    @property
    def writes(self) -> bool:
        return "no-writes" not in self.source.partition("\n")[0]

    def where(self, line: int) -> str:
        """The file and line that a line of ``source`` comes from: ``includes/grant.lua:12``. A line past the
        end counts as the last one: Lua's compiler names it for an ``end`` that is missing."""
        line = max(1, min(line, self.source.count("\n")))
        part = self.parts[bisect_right(self.parts, line, key=lambda part: part.start) - 1]
        return f"{part.file}:{part.line + line - part.start}"

    def places(self, message: str) -> list[str]:
        """The files and lines that an error of the server names, as ``where`` gives them."""
        return [self.where(int(line)) for line in _LINE.findall(message)]

    def readable(self, message: str) -> str:
        """An error of the server with files and lines for the lines of this script that it names."""
        message = _RUNNING.sub(f"script: {self.name}, on ", message)
        for pattern in (_LINE, _OPENED):
            message = pattern.sub(lambda found: self.where(int(found[1])), message)
        return message


class Bound:
    """A script with the keys of one queue."""

    def __init__(self, script: Script, keys: Keys, *more: str) -> None:
        self.script = script
        self.keys: tuple[str, ...] = (*(getattr(keys, name) for name in script.keys), *more)
        self._of = keys
        self.words = ("EVALSHA", script.sha, str(len(self.keys)), *self.keys)

    @cached_property
    def whole(self) -> Bound:
        """For a cluster: with one key more, which is never there. A node answers TRYAGAIN or ASK where one
        of a script's keys is missing and their slot is on its way from or to another node. Where none is
        missing at first it runs the script, and breaks it off in its middle when that looks for a key which
        is not there, or makes a second one while the first is still on its way."""
        return Bound(self.script, self._of, self._of.absent)


@cache
def load(name: str, *keys: str) -> Script:
    return read(_folder(), name, *keys)


def names() -> list[str]:
    """Of all scripts."""
    files_there = (entry.name for entry in _folder().iterdir())
    return sorted(name.removesuffix(".lua") for name in files_there if name.endswith(".lua"))


def read(folder: Traversable, name: str, *keys: str) -> Script:
    """A script from the folder that has its file and, in ``includes/``, the files that it includes."""
    parts, source, line = [], "", 1
    for file, first, text in _expand(folder, f"{name}.lua"):
        parts.append(Part(line, file, first))
        source += text
        line += text.count("\n")
    return Script(name, keys, source, sha1(source.encode(), usedforsecurity=False).hexdigest(), tuple(parts))


def _expand(folder: Traversable, file: str) -> Iterator[tuple[str, int, str]]:
    """The text in pieces, each with its file and the number of its first line there."""
    text = (folder / file).read_text(encoding="utf-8")
    line, end = 1, 0
    for include in _INCLUDE.finditer(text):
        if piece := text[end : include.start()]:
            yield file, line, piece
        yield from _expand(folder, f"includes/{include[1]}.lua")
        line += piece.count("\n") + 1
        end = include.end()
    if text[end:]:
        yield file, line, text[end:]


@cache
def _folder() -> Traversable:
    """In a checkout, ``leaseq/lua`` is a link to the folder beside the package."""
    return files("leaseq") / "lua"
