"""Plants mutants and faults one at a time, and runs the tests that may notice them.

A test has caught a change if it fails with it, fails again when it runs by itself, and passes in a copy of
the tree without any change. Otherwise it fails for another reason, and the search continues without it.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tools import planted_faults
from tools.mutants import line_coverage, sources
from tools.mutants.faults import Fault
from tools.mutants.line_coverage import Coverage
from tools.mutants.mutant import Mutant

TREES = 2
NEAREST_FILES = 4  # test files that are run first
MIN_FOR_COVERAGE = (
    20  # from this many mutants of Python on, it pays to run all tests once to see which run a line
)
LIMIT = 120  # seconds for one test
NEAREST_SECONDS = 300  # for the nearest test files
ALL_SECONDS = 1_800  # for the others
# Plugins that these tests don't use. Loading them takes longer than most of the tests.
_UNUSED_PLUGINS = ("schemathesis", "playwright", "anyio", "xdist", "xdist.looponfail")
_OPTIONS = (*(f"-pno:{name}" for name in _UNUSED_PLUGINS), "-x", "--tb=short", f"--limit={LIMIT}")
_CONFTEST_ERROR = "while loading conftest"
_NOT_FOUND = "ERROR: not found:"
# These tests need one of those plugins.
_SKIPPED_FILES = {"test_schemathesis.py"}
_SUMMARY = "short test summary info"
_UNRAISABLE = "PytestUnraisableExceptionWarning"
_CATCH_LINE = re.compile(r"^ *[\d.]+ s  (.+?): caught by (.+)$", re.MULTILINE)  # as `report_line` writes it
_FAILURE_LINE = re.compile(
    r"^(?:FAILED|ERROR) ([^\s:]+\.py(?:::[\w:]+(?:\[.*?\])?)?)(?: - .*)?$", re.MULTILINE
)

Change = Mutant | Fault


@dataclass(frozen=True, slots=True)
class Result:
    change: Change
    test: str  # the test that caught it, or its file if that can't be loaded; '' if it survived
    seconds: float


def run_changes(changes: Sequence[Change], earlier_tests: Mapping[str, str]) -> list[Result]:
    """Print each result once known. ``earlier_tests``: by the id of a change, the test to run first."""
    python = [change for change in changes if isinstance(change, Mutant) and change.file.endswith(".py")]
    with planted_faults.copies(TREES + 1) as (unchanged, *trees):
        search = Search(unchanged)
        coverage = _measure_coverage(unchanged) if len(python) >= MIN_FOR_COVERAGE else Coverage({})

        def run_change(tree: Path, change: Change) -> Result:
            start = time.monotonic()
            if (unchanged / change.file).read_text() != sources.text(change.file):
                raise RuntimeError(f"{change.file} was edited while its mutants were chosen: start again")
            stages = _stages(change, coverage, earlier_tests.get(change.id, ""))
            result = Result(change, search.catcher(tree, stages), time.monotonic() - start)
            print(report_line(result), flush=True)
            return result

        return planted_faults.try_each(trees, changes, run_change)


def report_line(result: Result) -> str:
    verdict = f"caught by {result.test}" if result.test else "SURVIVED"
    return f"{result.seconds:6.1f} s  {result.change.id}: {verdict}"


def read_catchers(log: str) -> dict[str, str]:
    """The test that caught each change, by the change's id, from the output of an earlier run."""
    return dict(_CATCH_LINE.findall(log))


def _measure_coverage(tree: Path) -> Coverage:
    start = time.monotonic()
    coverage = line_coverage.measure(tree, sorted({*sources.tests_of("leaseq"), *sources.tests_of("webapp")}))
    print(f"{time.monotonic() - start:6.1f} s  to measure which tests run each line of Python", flush=True)
    return coverage


def _stages(change: Change, coverage: Coverage, earlier_test: str) -> Iterator[tuple[list[str], float]]:
    """Groups of tests to run, the likeliest to fail first, and how many seconds each may take."""
    if Path(earlier_test.partition("::")[0]).is_file():
        yield [earlier_test], NEAREST_SECONDS
    if isinstance(change, Fault):  # tests of how scripts are written may fail for any inserted code
        yield [node for test in change.tests for node in planted_faults.nodes(test)], NEAREST_SECONDS
        return
    ranked_files = sources.tests_for(change.file, change.lines_near(sources.text(change.file)))
    files = [test for test in ranked_files if Path(test).name not in _SKIPPED_FILES]
    tests = coverage.tests(change.file, change.line)
    if not tests:  # Lua, or code that runs at import or only in programs that tests start
        yield files[:NEAREST_FILES], NEAREST_SECONDS
        yield files[NEAREST_FILES:], ALL_SECONDS
        return
    by_file = [sorted(test for test in tests if test.startswith(f"{file}::")) for file in files]
    tests_of_files = [tests_of_file for tests_of_file in by_file if tests_of_file]
    yield (
        [test for tests_of_file in tests_of_files[:NEAREST_FILES] for test in tests_of_file],
        NEAREST_SECONDS,
    )
    yield [test for tests_of_file in tests_of_files[NEAREST_FILES:] for test in tests_of_file], ALL_SECONDS
    if change.file.startswith("webapp/"):
        nearby_text = change.lines_near(sources.text(change.file))
        pages = sources.nearest(sources.text(change.file), nearby_text, sources.tests_in("browser"))
        yield pages[:NEAREST_FILES], NEAREST_SECONDS
    if coverage.runs_in_setup(change.file, change.line):
        yield files, ALL_SECONDS
    else:
        yield files[:NEAREST_FILES], NEAREST_SECONDS  # these may start programs that run it


@dataclass
class Search:
    """Searches for a test that fails because of a change."""

    unchanged: Path  # a copy of the tree without any change
    _results: dict[str, bool] = field(default_factory=dict)  # whether it passes unchanged, by test

    def catcher(self, tree: Path, stages: Iterable[tuple[list[str], float]]) -> str:
        """The first test that fails because of the change in this tree, '' if none does."""
        return next(filter(None, (self._catcher_in_stage(tree, *stage) for stage in stages)), "")

    def _catcher_in_stage(self, tree: Path, tests: list[str], seconds: float) -> str:
        deselect_options: list[str] = []
        while test := _find_failure(tree, tests, seconds, deselect_options):
            if not self._passes_without_change(test):
                print(f"not counted: {test} fails with nothing planted", flush=True)
            elif _passes(tree, test):
                print(f"not counted: {test} failed among others, and passed by itself", flush=True)
            else:
                return test
            tests = [name for name in tests if name != test]
            deselect_options.append(f"--deselect={test}")
        return ""

    def _passes_without_change(self, test: str) -> bool:
        if test not in self._results:
            self._results[test] = _passes(self.unchanged, test)
        return self._results[test]


def _passes(tree: Path, test: str) -> bool:
    """Whether the test passes by itself. For a file that can't be loaded, passing means that it loads."""
    try:
        process = planted_faults.run(
            tree, [test], NEAREST_SECONDS, *_OPTIONS, *(["--co"] if "::" not in test else [])
        )
    except subprocess.TimeoutExpired:
        return False
    return _exit_code(process) == pytest.ExitCode.OK


def _exit_code(process: subprocess.CompletedProcess[str]) -> int:
    """Pytest's exit code, but OK if it ended with 1 only because something, such as a thread's socket, was
    still open after the last test."""
    only_warned = _SUMMARY not in process.stdout and _UNRAISABLE in process.stderr
    return pytest.ExitCode.OK if only_warned else process.returncode


def _find_failure(tree: Path, tests: Sequence[str], seconds: float, options: Sequence[str]) -> str:
    """The first failed test, '' if none fails. A single test that does not end has failed; several that took
    too long have not, since that may be the machine's fault."""
    if not tests:
        return ""
    try:
        process = planted_faults.run(tree, tests, seconds, *_OPTIONS, *options)
    except subprocess.TimeoutExpired:
        print(f"{len(tests)} test files did not end within {seconds:g} s", flush=True)
        return ""
    if (
        _exit_code(process) in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        or _NOT_FOUND in process.stderr
    ):
        return ""
    if _CONFTEST_ERROR in process.stderr:
        return tests[0].partition("::")[0]
    match = _FAILURE_LINE.search(process.stdout.rpartition(_SUMMARY)[2])
    if not match:
        raise RuntimeError(
            f"pytest ended with {process.returncode}:\n{process.stdout[-2_000:]}{process.stderr[-2_000:]}"
        )
    return match[1]
