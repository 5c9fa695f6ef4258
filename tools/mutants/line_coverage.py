"""Which tests run a line of Python.

All tests run once in a copy of the tree, and coverage.py records for each line the tests that ran it. What
runs in a program that a test starts, such as the web app behind a browser, is not recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import coverage

from tools import planted_faults

PACKAGES = ("leaseq", "webapp")
ABOVE = 10  # lines: a line without code belongs to the statement that begins above it
_TIMEOUT = 3_600  # seconds
_OPTIONS = ("-n2", "--cov-context=test", "--cov-report=", *(f"--cov={name}" for name in PACKAGES))


@dataclass(frozen=True, slots=True)
class Coverage:
    """``contexts``: for each file, those of coverage.py by line, as ``tests/test_some.py::test_name|run``."""

    contexts: dict[str, dict[int, frozenset[str]]]

    def tests(self, file: str, line: int) -> frozenset[str]:
        """The tests of this line, or of the nearest line above that any test runs; empty if none is near."""
        return frozenset(map(_test, self._contexts_near(file, line)))

    def runs_in_setup(self, file: str, line: int) -> bool:
        """Whether a fixture runs it. If tests share it, only the first of them is in ``tests``."""
        return any(context.endswith("|setup") for context in self._contexts_near(file, line))

    def _contexts_near(self, file: str, line: int) -> frozenset[str]:
        lines = self.contexts.get(file, {})
        return next((lines[at] for at in range(line, line - ABOVE, -1) if lines.get(at)), frozenset())


def measure(tree: Path, tests: Sequence[str]) -> Coverage:
    """Measure these tests, including failed ones, since a mutant's tests are judged one by one."""
    planted_faults.run(tree, tests, _TIMEOUT, *_OPTIONS)
    data = coverage.CoverageData(str(tree / ".coverage"))
    data.read()
    contexts_by_file = {}
    for path in data.measured_files():
        lines = data.contexts_by_lineno(path)
        file = Path(path).relative_to(tree.resolve()).as_posix()
        # What runs at import has the empty context.
        contexts_by_file[file] = {line: frozenset(filter(None, lines[line])) for line in lines}
    return Coverage(contexts_by_file)


@cache
def _test(context: str) -> str:
    """``tests/test_some.py::test_name[case]|run`` without its case and phase."""
    return context.rpartition("|")[0].partition("[")[0]
