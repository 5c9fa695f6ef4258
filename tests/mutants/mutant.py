"""What a mutant is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENGINE = {path.name: path.relative_to(ROOT) for path in (ROOT / "tests" / "engine").rglob("test_*.py")}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault that somebody might make: ``instead`` stands in a file where ``piece`` ought to."""

    name: str  # in words: what is wrong with it
    file: str
    piece: str  # is there exactly once
    instead: str
    tests: tuple[str, ...]  # files, the likeliest to notice first


def mutants(file: str, tests: str, *faults: tuple[str, str, str]) -> tuple[Mutant, ...]:
    """Faults (name, piece, instead) of one file that the same tests watch: files under tests/engine without
    their ``test_``, or folder and file with a slash between."""
    paths = tuple(_path(test) for test in tests.split())
    return tuple(Mutant(name, file, piece, instead, paths) for name, piece, instead in faults)


def _path(test: str) -> str:
    folder, _, file = test.rpartition("/")
    path = Path("tests", folder, f"test_{file}.py") if folder else ENGINE[f"test_{file}.py"]
    return str(path)
