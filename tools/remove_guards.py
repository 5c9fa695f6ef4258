"""``python -m tools.remove_guards [WORD …]`` checks that a test fails without each guard.

It works in copies of the tree in the folder for temporary files, one for each processor. First all tests run
with every guard in place, and must pass. Then each guard is removed by itself, its tests run, and it is put
back. Exits with 1 if no test fails without some guard. WORDs choose guards by their names, or by parts of
their rows or files.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from tests.meta.guards import GUARDS, Guard
from tools import planted_faults

LIMIT = 120  # seconds for one test
TIMEOUT = 1_200  # for the tests of one guard, or for all of them


def main(*words: str) -> int:
    start = time.monotonic()
    guards = [guard for guard in GUARDS if not words or any(_matches(guard, word) for word in words)]
    with planted_faults.copies(os.cpu_count() or 1) as trees:
        completed = run(trees[0], {test for guard in guards for test in guard.nodes})
        if completed.returncode != 0:
            print(
                completed.stdout[-3_000:],
                "With every guard in its place, these have to pass first.",
                sep="\n",
            )
            return 1
        noticed_count = sum(planted_faults.try_each(trees, guards, is_noticed))
    summary = f"{noticed_count} of {len(guards)} guards were missed by a test when they were gone"
    print(f"{summary}, in {time.monotonic() - start:.0f} s")
    return 1 if noticed_count < len(guards) else 0


def _matches(guard: Guard, word: str) -> bool:
    return word == guard.id or word in guard.row or word in guard.file


def is_noticed(tree: Path, guard: Guard) -> bool:
    """Whether a test of the guard fails in a tree without it."""
    failures = planted_faults.failures(run(tree, guard.nodes, "-x"))
    print(
        f"{'noticed' if failures else 'NOT NOTICED'}  {guard.row}: {guard.id} in {guard.file}: {failures}",
        flush=True,
    )
    return bool(failures)


def run(tree: Path, tests: Iterable[str], *options: str) -> subprocess.CompletedProcess[str]:
    """A test that does not end counts as failed, so the guard's removal was noticed."""
    return planted_faults.run(tree, sorted(tests), TIMEOUT, f"--limit={LIMIT}", *options)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
