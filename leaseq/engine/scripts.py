"""The moves: Lua scripts under ``lua/``, joined with their includes and called by EVALSHA."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha1
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, cast

from hiredis import pack_command

from leaseq.engine.keys import Keys

pack: Callable[[tuple[str, ...]], bytes] = cast("Any", pack_command)
"""A command as the server reads it; what hiredis says of its types is of tuples with one word."""

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
    source = _expand(f"{name}.lua")
    return Script(name, keys, source, sha1(source.encode(), usedforsecurity=False).hexdigest())


def _expand(path: str) -> str:
    text = (_folder() / path).read_text(encoding="utf-8")
    return _INCLUDE.sub(lambda match: _expand(f"includes/{match[1]}.lua"), text)


@cache
def _folder() -> Traversable:
    """Installed, the moves lie inside the package; in a checkout, beside it."""
    installed = files("leaseq") / "lua"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "lua"
