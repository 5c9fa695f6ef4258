"""``python -m tests.security.remove_guards [WORD]``: does a test notice when a guard is gone?

In copies of the tree under the folder for temporary files, one for each processor. First all the tests are
run with every guard in its place, and have to pass. Then each guard is taken out by itself, its tests run,
and it is put back. It exits with 1 where a guard went and nobody noticed. WORD chooses rows or files.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.security.guards import GUARDS, Guard

ROOT = Path(__file__).parents[2]
PATIENCE = 600  # seconds for the tests of one guard, or for all of them


def main(word: str = "") -> int:
    began = time.monotonic()
    chosen = [guard for guard in GUARDS if word in guard.row or word in guard.file]
    with tempfile.TemporaryDirectory(prefix="leaseq-guards-") as folder:
        trees = [Path(folder) / f"tree{number}" for number in range(os.cpu_count() or 1)]
        for tree in trees:
            shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "__pycache__", "leaseq-data"))
        whole = run(trees[0], {test for guard in chosen for test in guard.test.split()})
        if whole.returncode != 0:
            print(whole.stdout[-3_000:], "With every guard in its place, these have to pass first.", sep="\n")
            return 1
        unnoticed = [guard for guard, said in all_without(trees, chosen) if not said]
    left = f"{len(chosen) - len(unnoticed)} of {len(chosen)} guards were missed by a test when they were gone"
    print(f"{left}, in {time.monotonic() - began:.0f} s")
    return 1 if unnoticed else 0


def all_without(trees: list[Path], chosen: list[Guard]) -> list[tuple[Guard, str]]:
    """What was said without each guard. A tree is one guard short at a time."""
    free: SimpleQueue[Path] = SimpleQueue()
    for tree in trees:
        free.put(tree)

    def one(guard: Guard) -> tuple[Guard, str]:
        tree = free.get()
        said = without(tree, guard)
        free.put(tree)
        print(f"{'noticed' if said else 'NOT NOTICED'}  {guard.row}: {guard.file}: {said}", flush=True)
        return guard, said

    with ThreadPoolExecutor(len(trees)) as pool:
        return list(pool.map(one, chosen))


def without(tree: Path, guard: Guard) -> str:
    """How many tests failed without the guard, as pytest says it; '' where none did."""
    path = tree / guard.file
    whole = path.read_text()
    path.write_text(whole.replace(guard.piece, guard.instead))
    try:
        done = run(tree, guard.test.split())
    finally:
        path.write_text(whole)
    if done.returncode not in (0, 1):  # no test ran: that is nobody noticing
        print(done.stdout[-1_500:], file=sys.stderr)
        return ""
    failed = re.search(r"(\d+) failed", done.stdout)
    return failed[0] if failed else ""


def run(tree: Path, tests: Iterable[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", *sorted(tests)],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
