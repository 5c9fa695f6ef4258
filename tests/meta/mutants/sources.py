"""What is mutated, and which tests are run for it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

from tests.meta import asynchronous
from tests.meta.mutants import lua_operators, python_operators
from tests.meta.mutants.mutant import Mutant, mutants
from tests.support.planting import ROOT

PARTS = ("lua", "leaseq", "webapp")
# They measure, make up data, or write the documentation's tables: nothing that a user relies on.
LEFT_OUT = {"bench", "simulation", "demo", "bench.py", "load.py"}

# Folders of tests that may notice a fault in each part.
_ENGINE = ("engine", "conformance", "unit", "worker", "transfer", "backup", "webhooks", "cli")
_TESTS = {
    "lua": _ENGINE,
    "leaseq": (*_ENGINE, "aio", "bridge", "web", "doctor", "server"),
    "webapp": ("web", "unit", "cli", "doctor", "webhooks"),
}
# Sequences of calls by chance: they share words with everything, and take a minute.
_LAST = ("/test_state_machine.py",)


def files(part: str) -> Iterator[str]:
    for path in sorted((ROOT / part).rglob("*.lua" if part == "lua" else "*.py")):
        relative = path.relative_to(ROOT)
        left_out = LEFT_OUT.intersection(relative.parts) or path in asynchronous.MADE
        if not left_out and path.resolve() == path:
            yield relative.as_posix()


@cache
def text(file: str) -> str:
    return (ROOT / file).read_text()


@cache
def mutants_of(file: str) -> tuple[Mutant, ...]:
    operators = lua_operators if file.endswith(".lua") else python_operators
    return tuple(mutants(file, text(file), operators.edits(text(file))))


def tests_for(file: str, near: str) -> list[str]:
    """Test files, the likeliest to notice a fault in this file first: those that share the most telling
    words with the text near it, then with the file. A word tells the more, the fewer tests have it."""
    words = tests_of(file.partition("/")[0])
    spread = Counter(word for found in words.values() for word in found)
    close = _words(near)
    whole = _words(text(file)) | _words(file) | close

    def likeness(path: str) -> float:
        shared = sum(
            math.log(len(words) / spread[word]) * (3 if word in close else 1) for word in words[path] & whole
        )
        return shared / math.sqrt(20 + len(words[path]))

    return sorted(words, key=lambda path: (path.endswith(_LAST), -likeness(path)))


def tests_of(part: str) -> dict[str, frozenset[str]]:
    """The files of tests that may notice a fault in this part, with their words."""
    return {path: words for path, words in _tests().items() if path.split("/")[1] in _TESTS[part]}


@cache
def _tests() -> dict[str, frozenset[str]]:
    """The words of each test file."""
    found = sorted((ROOT / "tests").rglob("test_*.py"))
    return {path.relative_to(ROOT).as_posix(): _words(path.read_text() + path.stem) for path in found}


def _words(of: str) -> frozenset[str]:
    """``put_off`` as it is, and as ``put`` and ``off``."""
    found = set(re.findall(r"[a-z][a-z_]{2,}", of.lower()))
    return frozenset(found.union(*(word.split("_") for word in found)) if found else ())
