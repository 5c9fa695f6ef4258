"""``python -m tests.mutants [WORD …]``: does a test notice each planted fault?

In two copies of the tree under the folder for temporary files. First all the tests that the mutants name are
run with nothing planted, and have to pass. Then each fault is planted by itself and its tests run, the
likeliest first; where these pass, all the tests of the engine and of what is around it. It exits with 1
where one survived. WORDs choose the mutants whose name or file has one of them.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests import planting
from tests.mutants import MUTANTS, Mutant

PATIENCE = 120  # seconds for the tests of one mutant
LONG_PATIENCE = 900  # for all the tests that are named, and for the wider ones
TREES = 2
# Plugins that these tests don't use take longer to load than most of the tests to run.
PLAIN = [f"-pno:{name}" for name in ("xdist", "xdist.looponfail", "schemathesis", "playwright", "anyio")]
WIDER = ("tests/engine", "tests/ground", "tests/topology", "tests/worker", "tests/transfer", "tests/cli")


def main(*words: str) -> int:
    began = time.monotonic()
    chosen = [
        one for one in MUTANTS if not words or any(word in one.name or word in one.file for word in words)
    ]
    with planting.copies(TREES) as trees:
        named = sorted({test for mutant in chosen for test in mutant.tests})
        whole = planting.run(trees[0], named, LONG_PATIENCE, *PLAIN)
        if whole.returncode != 0:
            print(whole.stdout[-3_000:], "With nothing planted, these have to pass first.", sep="\n")
            return 1
        caught = planting.each(trees, chosen, is_caught)
    print(f"{sum(caught)} of {len(chosen)} mutants were caught, in {time.monotonic() - began:.0f} s")
    return 0 if all(caught) else 1


def is_caught(tree: Path, mutant: Mutant) -> bool:
    """Whether a test fails in a tree with it. A run that comes to no end is noticed, too."""
    by = noticed_by(tree, mutant.tests, PATIENCE) or noticed_by(tree, WIDER, LONG_PATIENCE)
    print(f"{'caught  ' if by else 'SURVIVED'}  {mutant.file}: {mutant.name}: {by}", flush=True)
    return bool(by)


def noticed_by(tree: Path, tests: Sequence[str], patience: float) -> str:
    """The first test that failed; '' where none did."""
    try:
        done = planting.run(tree, tests, patience, "-x", *PLAIN)
    except subprocess.TimeoutExpired:
        return f"no end after {patience} s"
    found = re.search(r"^(?:FAILED|ERROR) (?:tests/)?(.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    return found[1] if found and planting.failed(done) else ""


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
