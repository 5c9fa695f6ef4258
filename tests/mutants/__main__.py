"""``python -m tests.mutants [WORD …]``: does a test notice each planted fault?

In two copies of the tree under the folder for temporary files. First all the tests that the mutants name are
run with nothing planted, and have to pass. Then each fault is planted by itself and its tests run, the
likeliest first; where these pass, all the tests of the engine and of what is around it. A test that comes to
no end fails, as in the ordinary run; those that are named have less time. It exits with 1 where one survived.
WORDs choose the mutants whose name or file has one of them.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants import MUTANTS, Mutant
from tests.support import planting

TREES = 2
LIMIT = 60  # seconds for one test that is named
PATIENCE = 300  # for the tests that a mutant names
LONG_PATIENCE = 1_200  # for all the tests that are named, and for the wider ones
# Plugins that these tests don't use take longer to load than most of the tests to run.
PLAIN = [f"-pno:{name}" for name in ("schemathesis", "hypothesispytest", "playwright", "anyio")]
ALONE = [*PLAIN, "-pno:xdist", "-pno:xdist.looponfail", "-x"]
WIDER = (
    *("tests/engine", "tests/unit", "tests/conformance/topology"),
    *("tests/worker", "tests/transfer", "tests/cli"),
    "--ignore=tests/meta/test_mutants.py",  # which would say of each that it is planted already
)


@dataclass(frozen=True)
class Finding:
    mutant: Mutant
    by: str  # the first test that noticed; '' where none did
    named: bool  # whether that test is of the mutant's own
    seconds: float

    @property
    def ended(self) -> bool:
        """Not by the tests themselves."""
        return "no end" in self.by


def main(*words: str) -> int:
    began = time.monotonic()
    chosen = [
        one for one in MUTANTS if not words or any(word in one.name or word in one.file for word in words)
    ]
    with planting.copies(TREES) as trees:
        named = sorted({test for mutant in chosen for test in mutant.tests})
        whole = planting.run(trees[0], named, LONG_PATIENCE, *PLAIN, f"-n{TREES}")
        if whole.returncode != 0:
            print(whole.stdout[-3_000:], "With nothing planted, these have to pass first.", sep="\n")
            return 1
        findings = planting.each(trees, chosen, look)
    caught = [one for one in findings if one.by]
    for one in findings:
        if one.ended or not one.named:
            print(line(one))
    ended = sum(one.ended for one in caught)
    others = sum(not one.named for one in caught)
    print(
        f"{len(caught)} of {len(chosen)} mutants were caught, {ended} of them by a test that came to no end, "
        f"{others} by a test that is not named for them, in {time.monotonic() - began:.0f} s"
    )
    return 0 if chosen and len(caught) == len(chosen) else 1


def look(tree: Path, mutant: Mutant) -> Finding:
    began = time.monotonic()
    by = noticed_by(tree, (*mutant.tests, f"--limit={LIMIT}"), PATIENCE)
    named = bool(by)
    found = Finding(mutant, by or noticed_by(tree, WIDER, LONG_PATIENCE), named, time.monotonic() - began)
    print(line(found), flush=True)
    return found


def line(one: Finding) -> str:
    word = "caught" if one.named else "caught by another" if one.by else "SURVIVED"
    return f"{word:8}  {one.seconds:5.1f} s  {one.mutant.file}: {one.mutant.name}: {one.by}"


def noticed_by(tree: Path, tests: Sequence[str], patience: float) -> str:
    """The first test that failed; '' where none did."""
    try:
        done = planting.run(tree, tests, patience, *ALONE)
    except subprocess.TimeoutExpired:
        return f"no end after {patience} s"
    found = re.search(r"^(?:FAILED|ERROR) (?:tests/)?(.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if not found or not planting.failed(done):
        return ""
    return f"{found[1]}: no end" if re.search(r"no end after \d+ s", done.stdout) else found[1]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
