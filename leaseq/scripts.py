"""The moves: Lua scripts under ``lua/``, joined with their includes and called by EVALSHA."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha1
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from leaseq.keys import Keys

_INCLUDE = re.compile(r"^ *--- @include (\w+)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Script:
    """One move: its name, the keys that it takes in their order, and its whole text."""

    name: str
    keys: tuple[str, ...]  # names of attributes of Keys
    source: str
    sha: str

    @property
    def writes(self) -> bool:
        return "no-writes" not in self.source.partition("\n")[0]


KEPT = 32  # arguments: all moves of one item have fewer


class Bound:
    """A script with the keys of one queue. All of the packed command but its arguments stays the same,
    so it is made once for each number of arguments; anew for many, of which any number may come."""

    def __init__(self, script: Script, keys: Keys) -> None:
        self.script = script
        self.keys: tuple[str, ...] = tuple(getattr(keys, name) for name in script.keys)
        self._absent = keys.absent
        self._templates: dict[int, bytes] = {}

    @cached_property
    def whole(self) -> Bound:
        """For a cluster: with one key more, which is never there. A node answers TRYAGAIN or ASK where one
        of a script's keys is missing and their slot is on its way from or to another node. Where none is
        missing at first it runs the script, and breaks it off in its middle when that looks for a key which
        is not there, or makes a second one while the first is still on its way."""
        made = copy(self)
        made.keys, made._templates = (*self.keys, self._absent), {}  # noqa: SLF001 - of its own class
        return made

    def pack(self, args: Sequence[str]) -> bytes:
        """The whole EVALSHA command in RESP."""
        count = len(args)
        template = self._templates.get(count)
        if template is None:
            template = self._template(count)
            if count <= KEPT:
                self._templates[count] = template
        sizes_and_words: list[int | bytes] = []
        for arg in args:
            word = arg.encode()
            sizes_and_words += (len(word), word)
        return template % tuple(sizes_and_words)

    def _template(self, count: int) -> bytes:
        words = ("EVALSHA", self.script.sha, str(len(self.keys)), *self.keys)
        fixed = "".join(f"${len(word)}\r\n{word}\r\n" for word in words)  # ASCII, and no % in a key
        return f"*{len(words) + count}\r\n{fixed}".encode() + b"$%d\r\n%b\r\n" * count


@cache
def load(name: str, *keys: str) -> Script:
    source = _expand(f"{name}.lua")
    return Script(name, keys, source, sha1(source.encode(), usedforsecurity=False).hexdigest())


def _expand(path: str) -> str:
    text = (_folder() / path).read_text(encoding="utf-8")
    return _INCLUDE.sub(lambda match: _expand(f"includes/{match[1]}.lua"), text)


@cache
def _folder() -> Traversable:
    """Installed, the moves lie inside the package; in a checkout, beside it."""
    installed = files("leaseq") / "lua"
    return installed if installed.is_dir() else Path(__file__).parent.parent / "lua"
