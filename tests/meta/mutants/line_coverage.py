"""Which tests run a line of Python.

All tests run once in a copy of the tree, and coverage.py notes for each line the tests in which it ran. What
runs in a program that a test starts is not noted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import coverage

from tests.support import planted_faults

PACKAGES = ("leaseq", "webapp")
ABOVE = 10  # lines: a line without code belongs to what begins above it
_TIMEOUT = 3_600  # seconds
_OPTIONS = ("-n2", "--cov-context=test", "--cov-report=", *(f"--cov={name}" for name in PACKAGES))


@dataclass(frozen=True, slots=True)
class Coverage:
    """``lines``: for each file, the tests by line, as ``tests/test_some.py::test_name``."""

    lines: dict[str, dict[int, frozenset[str]]]

    def tests(self, file: str, line: int) -> frozenset[str]:
        """Those that run this line, or the nearest above it that any runs; empty where none is near."""
        lines = self.lines.get(file, {})
        return next((lines[at] for at in range(line, line - ABOVE, -1) if lines.get(at)), frozenset())


def measure(tree: Path, tests: Sequence[str]) -> Coverage:
    """Of these tests, failed ones included, since a mutant's tests are looked at one by one."""
    planted_faults.run(tree, tests, _TIMEOUT, *_OPTIONS)
    data = coverage.CoverageData(str(tree / ".coverage"))
    data.read()
    lines_by_file = {}
    for path in data.measured_files():
        lines = data.contexts_by_lineno(path)
        file = Path(path).relative_to(tree.resolve()).as_posix()
        lines_by_file[file] = {
            line: frozenset(filter(None, map(_test, contexts))) for line, contexts in lines.items()
        }
    return Coverage(lines_by_file)


@cache
def _test(context: str) -> str:
    """``tests/test_some.py::test_name[case]|run`` without its case and phase; '' for what runs at import."""
    return context.rpartition("|")[0].partition("[")[0]
