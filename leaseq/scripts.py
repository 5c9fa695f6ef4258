"""The moves: Lua scripts under ``lua/``, joined with their includes and called by EVALSHA."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
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


@dataclass(frozen=True, slots=True)
class Bound:
    """A script with the keys of one queue; ``head`` is all of the packed command that stays the same."""

    script: Script
    keys: tuple[str, ...]
    head: bytes

    @property
    def words(self) -> int:
        return 3 + len(self.keys)


def bind(script: Script, keys: Keys) -> Bound:
    names = tuple(getattr(keys, name) for name in script.keys)
    return Bound(script, names, pack("EVALSHA", script.sha, str(len(names)), *names))


def pack(*words: str | bytes) -> bytes:
    """Words as RESP bulk strings, without the array's head."""
    raw = [word.encode() if isinstance(word, str) else word for word in words]
    return b"".join([part for word in raw for part in (b"$%d\r\n" % len(word), word, b"\r\n")])


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
