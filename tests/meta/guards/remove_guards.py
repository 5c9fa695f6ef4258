"""``python -m tests.meta.guards.remove_guards [WORD …]``: does a test fail when a guard is gone?

In copies of the tree under the folder for temporary files, one for each processor. First all the tests are
run with every guard in its place, and have to pass. Then each guard is taken out by itself, its tests run,
and it is put back. It exits with 1 where a guard went and no test failed. WORDs choose guards by their names,
or by parts of their rows or files.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from tests.meta.guards import GUARDS, Guard
from tests.support import planting

LIMIT = 120  # seconds for one test
PATIENCE = 1_200  # for the tests of one guard, or for all of them


def main(*words: str) -> int:
    began = time.monotonic()
    chosen = [guard for guard in GUARDS if not words or any(_is_meant(guard, word) for word in words)]
    with planting.copies(os.cpu_count() or 1) as trees:
        whole = run(trees[0], {test for guard in chosen for test in guard.nodes})
        if whole.returncode != 0:
            print(whole.stdout[-3_000:], "With every guard in its place, these have to pass first.", sep="\n")
            return 1
        noticed = sum(planting.each(trees, chosen, is_noticed))
    left = f"{noticed} of {len(chosen)} guards were missed by a test when they were gone"
    print(f"{left}, in {time.monotonic() - began:.0f} s")
    return 1 if noticed < len(chosen) else 0


def _is_meant(guard: Guard, word: str) -> bool:
    return word == guard.id or word in guard.row or word in guard.file


def is_noticed(tree: Path, guard: Guard) -> bool:
    """Whether a test of the guard fails in a tree without it."""
    said = planting.failed(run(tree, guard.nodes, "-x"))
    print(
        f"{'noticed' if said else 'NOT NOTICED'}  {guard.row}: {guard.id} in {guard.file}: {said}", flush=True
    )
    return bool(said)


def run(tree: Path, tests: Iterable[str], *options: str) -> subprocess.CompletedProcess[str]:
    """A test that comes to no end fails, and has noticed."""
    return planting.run(tree, sorted(tests), PATIENCE, f"--limit={LIMIT}", *options)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
