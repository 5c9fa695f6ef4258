"""``python -m tools.mutants`` checks that a test fails for each planted fault.

    python -m tools.mutants                         300 mutants with a new seed, and those of faults.py
    python -m tools.mutants --seed 7 --count 40     the same 40 mutants each time
    python -m tools.mutants --count 40 webapp/auth  40 mutants of files whose path contains a word
    python -m tools.mutants webapp/app.py:61:call   one mutant, by its printed id
    python -m tools.mutants --count 0               only the faults
    python -m tools.mutants --seed 7 --log FILE     try first the tests that caught them earlier
    python -m tools.mutants --list lua/finish       the ids of all mutants, and their changes

Each is planted by itself in a copy of the tree. For a mutant, the tests of the folders that concern its file
run until one fails, beginning with those that share the most words with the lines around the change; for a
fault, the tests named with it run. The test that failed must fail again by itself, and pass with nothing
planted. Exits with 1 if some fault has no such test.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tools.mutants import runner, sources
from tools.mutants.faults import FAULTS, Fault
from tools.mutants.mutant import Mutant
from tools.mutants.runner import Change, Result
from tools.mutants.sampling import sample

_MAX_SEED = 1_000_000


def main(words: Sequence[str]) -> int:
    options = _options(words)
    seed = options.seed if options.seed is not None else random.randrange(_MAX_SEED)
    os.environ.setdefault("LEASEQ_SEED", str(seed))  # for the tests: failures can be repeated
    if options.list:
        return _list(tuple(options.word))
    changes = _changes_of(options.word)
    if not changes:
        mutants = sample(seed, options.count, tuple(options.word))
        changes = [*mutants, *(FAULTS if not options.word else ())]
        print(
            f"{len(mutants)} mutants and {len(changes) - len(mutants)} faults; to repeat: "
            f"python -m tools.mutants --seed {seed} --count {options.count} {' '.join(options.word)}",
            flush=True,
        )
    if not changes:
        print(f"no mutant in {' or '.join(options.word)}: name a part of a path, such as lua/ or webapp/auth")
        return 2
    start = time.monotonic()
    results = runner.run_changes(
        changes, runner.read_catchers(options.log.read_text()) if options.log else {}
    )
    return _report(results, time.monotonic() - start)


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m tools.mutants",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("word", nargs="*", help="part of a path, or an id")
    parser.add_argument("--seed", type=int, help="of the sample (default: a random one, which is printed)")
    parser.add_argument("--count", type=int, default=300, help="of mutants in the sample (default: 300)")
    parser.add_argument("--log", type=Path, help="of an earlier run, whose tests run first")
    parser.add_argument("--list", action="store_true", help="print the ids and changes, and run nothing")
    return parser.parse_args(words)


def _changes_of(words: Sequence[str]) -> list[Change]:
    """The changes whose ids are given; none if the words are not ids."""
    changes: list[Change] = [fault for fault in FAULTS if fault.id in words]
    for word in words:
        file = word.partition(":")[0]
        if ":" in word and file in sources.files(file.partition("/")[0]):
            changes += [mutant for mutant in sources.mutants_of(file) if mutant.id == word]
    return changes


def _list(words: tuple[str, ...]) -> int:
    for part in sources.PARTS:
        for file in sources.files(part):
            if not words or any(word in file for word in words):
                for mutant in sources.mutants_of(file):
                    print(mutant.id, mutant.diff(sources.text(file)), sep="\n")
    return 0


def _report(results: Sequence[Result], seconds: float) -> int:
    survivors = [result for result in results if not result.test]
    for result in survivors:
        print(
            f"\nSURVIVED {result.change.id}", result.change.diff(sources.text(result.change.file)), sep="\n"
        )
    for kind, name in ((Mutant, "mutants"), (Fault, "faults")):
        count, survivor_count = (
            sum(isinstance(result.change, kind) for result in group) for group in (results, survivors)
        )
        print(f"{count - survivor_count} of {count} {name} were caught")
    print(f"in {seconds:.0f} s")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
