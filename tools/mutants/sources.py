"""The files that are mutated, and the tests that run for them."""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache

from tools import aio
from tools.mutants import lua_operators, python_operators
from tools.mutants.mutant import Equivalent, Mutant, mutants
from tools.planted_faults import ROOT

PARTS = ("lua", "leaseq", "webapp")
# They generate data, or write the documentation's tables: users rely on none of it.
EXCLUDED_NAMES = {"simulation", "demo"}

# Folders of tests that may notice a fault in each part.
_ENGINE = ("engine", "conformance", "unit", "worker", "transfer", "backup", "webhooks", "cli")
_TEST_FOLDERS = {
    "lua": _ENGINE,
    "leaseq": (*_ENGINE, "aio", "bridge", "web", "doctor", "server"),
    "webapp": ("web", "unit", "cli", "doctor", "webhooks"),
}
# Random sequences of calls: they share words with everything, and take a minute.
_LAST_FILES = ("/test_state_machine.py",)


def files(part: str) -> Iterator[str]:
    for path in sorted((ROOT / part).rglob("*.lua" if part == "lua" else "*.py")):
        relative = path.relative_to(ROOT)
        is_excluded = EXCLUDED_NAMES.intersection(relative.parts) or path in map(aio.path_of, aio.SOURCES)
        if not is_excluded and path.resolve() == path:
            yield relative.as_posix()


@cache
def text(file: str) -> str:
    return (ROOT / file).read_text()


@cache
def mutants_of(file: str) -> tuple[Mutant, ...]:
    operators = lua_operators if file.endswith(".lua") else python_operators
    return tuple(mutants(file, text(file), operators.edits(text(file)), equivalents()))


@cache
def equivalents() -> tuple[Equivalent, ...]:
    """The mutants that change nothing which can be observed."""
    document = tomllib.loads((ROOT / "tests/meta/equivalent_mutants.toml").read_text())
    return tuple(Equivalent(**entry) for entry in document["mutant"])


def tests_for(file: str, nearby_text: str) -> list[str]:
    """Test files, the likeliest to notice a fault in this file first: those that share the most telling
    words with the text near it, then with the file. The fewer tests have a word, the more it counts."""
    return nearest(text(file) + file, nearby_text, tests_of(file.partition("/")[0]))


def nearest(whole_text: str, nearby_text: str, words: Mapping[str, frozenset[str]]) -> list[str]:
    """Test files, of which ``words`` has the words, with the most telling words of these texts first."""
    file_counts = Counter(word for file_words in words.values() for word in file_words)
    nearby_words = _words(nearby_text)
    product_words = _words(whole_text) | nearby_words

    def likeness(path: str) -> float:
        shared = sum(
            math.log(len(words) / file_counts[word]) * (3 if word in nearby_words else 1)
            for word in words[path] & product_words
        )
        return shared / math.sqrt(20 + len(words[path]))

    return sorted(words, key=lambda path: (path.endswith(_LAST_FILES), -likeness(path)))


def tests_of(part: str) -> dict[str, frozenset[str]]:
    """The test files that may notice a fault in this part, with their words."""
    return tests_in(*_TEST_FOLDERS[part])


def tests_in(*folders: str) -> dict[str, frozenset[str]]:
    """The test files in these folders, with their words."""
    return {path: words for path, words in _words_by_file().items() if path.split("/")[1] in folders}


@cache
def _words_by_file() -> dict[str, frozenset[str]]:
    """The words of each test file."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return {path.relative_to(ROOT).as_posix(): _words(path.read_text() + path.stem) for path in paths}


def _words(source: str) -> frozenset[str]:
    """``put_off`` as it is, and as ``put`` and ``off``."""
    words = set(re.findall(r"[a-z][a-z_]{2,}", source.lower()))
    return frozenset(words.union(*(word.split("_") for word in words)) if words else ())
