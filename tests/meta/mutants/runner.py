"""Plants mutants and faults one at a time and runs the tests that may notice."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.meta.mutants import sources
from tests.meta.mutants.faults import Fault
from tests.meta.mutants.mutant import Mutant
from tests.support import planting

TREES = 2
NEAREST = 4  # test files that are run first
LIMIT = 120  # seconds for one test
NEAREST_SECONDS = 300  # for the nearest test files
ALL_SECONDS = 900  # for the others
# Plugins that these tests don't use take longer to load than most of the tests to run.
_UNUSED = ("schemathesis", "playwright", "anyio", "xdist", "xdist.looponfail")
_OPTIONS = (*(f"-pno:{name}" for name in _UNUSED), "-x", f"--limit={LIMIT}")
_UNREADABLE = "while loading conftest"
# They need one of those plugins.
_NOT_RUN = {"test_schemathesis.py"}

Change = Mutant | Fault


@dataclass(frozen=True, slots=True)
class Result:
    change: Change
    test: str  # the first test that failed; '' where none did
    seconds: float


def results(changes: Sequence[Change]) -> list[Result]:
    """Each printed as soon as it is known."""
    with planting.copies(TREES) as trees:
        return planting.each(trees, changes, _look)


def fail_without(tests: Iterable[str]) -> set[str]:
    """Those of these tests that fail with nothing planted, by any parameters: they caught no mutant."""
    chosen = sorted({function(test) for test in tests if "::" in test})
    if not chosen:
        return set()
    with planting.copies(1) as (tree,):
        done = planting.run(tree, chosen, ALL_SECONDS, *(one for one in _OPTIONS if one != "-x"))
    if done.returncode not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(
            f"with nothing planted, pytest ended with {done.returncode}:\n{done.stdout[-3_000:]}"
        )
    return set(map(function, _failed(done.stdout)))


def function(test: str) -> str:
    """The test without its parameters, which may hold anything."""
    return test.partition("[")[0]


def _look(tree: Path, change: Change) -> Result:
    began = time.monotonic()
    found = sources.tests_for(change.file, change.near(sources.text(change.file)))
    tests = [test for test in found if Path(test).name not in _NOT_RUN]
    named = [node for test in change.tests for node in planting.nodes(test)]
    test = (
        _first_failed(tree, named, NEAREST_SECONDS)
        or _first_failed(tree, tests[:NEAREST], NEAREST_SECONDS)
        or _first_failed(tree, tests[NEAREST:], ALL_SECONDS)
    )
    result = Result(change, test, time.monotonic() - began)
    print(line(result), flush=True)
    return result


def line(result: Result) -> str:
    said = f"caught by {result.test}" if result.test else "SURVIVED"
    return f"{result.seconds:6.1f} s  {result.change.id}: {said}"


def _first_failed(tree: Path, tests: Sequence[str], seconds: float) -> str:
    """'' where none fails. One test that comes to no end has failed; all of them, which took too long, have
    not: that may be the machine."""
    if not tests:
        return ""
    try:
        done = planting.run(tree, tests, seconds, *_OPTIONS)
    except subprocess.TimeoutExpired:
        print(f"{len(tests)} test files had no end after {seconds:g} s", flush=True)
        return ""
    if done.returncode in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return ""
    failed = next(_failed(done.stdout), "")
    if not failed and _UNREADABLE not in done.stderr:
        raise RuntimeError(
            f"pytest ended with {done.returncode}:\n{done.stdout[-2_000:]}{done.stderr[-2_000:]}"
        )
    return failed or "conftest.py, which can't import it"


def _failed(output: str) -> Iterator[str]:
    return (found[1] for found in re.finditer(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, re.MULTILINE))
