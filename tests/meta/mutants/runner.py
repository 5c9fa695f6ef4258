"""Plants mutants and faults one at a time and runs the tests that may notice.

A test has caught a change if it fails with it, fails again when it runs by itself, and passes in a copy of
the tree without any change. Otherwise it fails for another reason, and the search goes on without it.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.meta.mutants import covering, sources
from tests.meta.mutants.covering import Covering
from tests.meta.mutants.faults import Fault
from tests.meta.mutants.mutant import Mutant
from tests.support import planting

TREES = 2
NEAREST = 4  # test files that are run first
MANY = 20  # mutants of Python, from which on it pays to run all tests once to see which run a line
LIMIT = 120  # seconds for one test
NEAREST_SECONDS = 300  # for the nearest test files
ALL_SECONDS = 1_800  # for the others
# Plugins that these tests don't use take longer to load than most of the tests to run.
_UNUSED = ("schemathesis", "playwright", "anyio", "xdist", "xdist.looponfail")
_OPTIONS = (*(f"-pno:{name}" for name in _UNUSED), "-x", "--tb=short", f"--limit={LIMIT}")
_UNREADABLE = "while loading conftest"
_GONE = "ERROR: not found:"
# They need one of those plugins.
_NOT_RUN = {"test_schemathesis.py"}
_SUMMARY = "short test summary info"
_CAUGHT = re.compile(r"^ *[\d.]+ s  (.+?): caught by (.+)$", re.MULTILINE)  # as `line` writes it
_FAILED = re.compile(r"^(?:FAILED|ERROR) ([^\s:]+\.py(?:::[\w:]+(?:\[.*?\])?)?)(?: - .*)?$", re.MULTILINE)

Change = Mutant | Fault


@dataclass(frozen=True, slots=True)
class Result:
    change: Change
    test: str  # the test that caught it, or its file where that can't be loaded; '' where it survived
    seconds: float


def results(changes: Sequence[Change], earlier: Mapping[str, str]) -> list[Result]:
    """Each printed as soon as it is known. ``earlier``: by the id of a change, the test to run first."""
    python = [one for one in changes if isinstance(one, Mutant) and one.file.endswith(".py")]
    with planting.copies(TREES + 1) as (unchanged, *trees):
        search = Search(unchanged)
        covered = _covered(unchanged) if len(python) >= MANY else Covering({})

        def result(tree: Path, change: Change) -> Result:
            began = time.monotonic()
            if (unchanged / change.file).read_text() != sources.text(change.file):
                raise RuntimeError(f"{change.file} was edited while its mutants were chosen: start again")
            stages = _stages(change, covered, earlier.get(change.id, ""))
            found = Result(change, search.catcher(tree, stages), time.monotonic() - began)
            print(line(found), flush=True)
            return found

        return planting.each(trees, changes, result)


def line(result: Result) -> str:
    said = f"caught by {result.test}" if result.test else "SURVIVED"
    return f"{result.seconds:6.1f} s  {result.change.id}: {said}"


def catchers(log: str) -> dict[str, str]:
    """The test that caught each change, by its id, from the lines that an earlier run printed."""
    return dict(_CAUGHT.findall(log))


def _covered(tree: Path) -> Covering:
    began = time.monotonic()
    covered = covering.measure(tree, sorted({*sources.tests_of("leaseq"), *sources.tests_of("webapp")}))
    print(f"{time.monotonic() - began:6.1f} s  for which tests run a line of Python", flush=True)
    return covered


def _stages(change: Change, covered: Covering, earlier: str) -> Iterator[tuple[list[str], float]]:
    """The tests to run, the likeliest to fail first, and how many seconds they may take."""
    if Path(earlier.partition("::")[0]).is_file():
        yield [earlier], NEAREST_SECONDS
    if isinstance(change, Fault):  # a test of how scripts are written may fail for any code that is put in
        yield [node for test in change.tests for node in planting.nodes(test)], NEAREST_SECONDS
        return
    found = sources.tests_for(change.file, change.near(sources.text(change.file)))
    files = [test for test in found if Path(test).name not in _NOT_RUN]
    tests = covered.tests(change.file, change.line)
    if not tests:  # it is Lua, or runs at import, or only in programs that tests start
        yield files[:NEAREST], NEAREST_SECONDS
        yield files[NEAREST:], ALL_SECONDS
        return
    by_file = [sorted(test for test in tests if test.startswith(f"{file}::")) for file in files]
    likely = [of_one for of_one in by_file if of_one]
    yield [test for of_one in likely[:NEAREST] for test in of_one], NEAREST_SECONDS
    yield [test for of_one in likely[NEAREST:] for test in of_one], ALL_SECONDS
    yield files[:NEAREST], NEAREST_SECONDS  # these may start programs that run it


@dataclass
class Search:
    """For a test that fails because of a change."""

    unchanged: Path  # a copy of the tree without any change
    _passes: dict[str, bool] = field(default_factory=dict)  # in the unchanged tree, by test

    def catcher(self, tree: Path, stages: Iterable[tuple[list[str], float]]) -> str:
        """The first test that fails because of the change in this tree, '' where none does."""
        return next(filter(None, (self._of_stage(tree, *stage) for stage in stages)), "")

    def _of_stage(self, tree: Path, tests: list[str], seconds: float) -> str:
        without: list[str] = []
        while test := _first_failed(tree, tests, seconds, without):
            if not self._passes_unchanged(test):
                print(f"not counted: {test} fails with nothing planted", flush=True)
            elif _passes(tree, test):
                print(f"not counted: {test} failed among others, and passed by itself", flush=True)
            else:
                return test
            tests = [one for one in tests if one != test]
            without.append(f"--deselect={test}")
        return ""

    def _passes_unchanged(self, test: str) -> bool:
        if test not in self._passes:
            self._passes[test] = _passes(self.unchanged, test)
        return self._passes[test]


def _passes(tree: Path, test: str) -> bool:
    """By itself. A file is named where it can't be loaded: then loading is what it has to pass."""
    try:
        done = planting.run(tree, [test], NEAREST_SECONDS, *_OPTIONS, *(["--co"] if "::" not in test else []))
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == pytest.ExitCode.OK


def _first_failed(tree: Path, tests: Sequence[str], seconds: float, options: Sequence[str]) -> str:
    """'' where none fails. One test that comes to no end has failed; all of them, which took too long, have
    not: that may be the machine."""
    if not tests:
        return ""
    try:
        done = planting.run(tree, tests, seconds, *_OPTIONS, *options)
    except subprocess.TimeoutExpired:
        print(f"{len(tests)} test files had no end after {seconds:g} s", flush=True)
        return ""
    if done.returncode in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) or _GONE in done.stderr:
        return ""
    if _UNREADABLE in done.stderr:
        return tests[0].partition("::")[0]
    found = _FAILED.search(done.stdout.rpartition(_SUMMARY)[2])
    if not found:
        raise RuntimeError(
            f"pytest ended with {done.returncode}:\n{done.stdout[-2_000:]}{done.stderr[-2_000:]}"
        )
    return found[1]
