"""``./dev test --quick`` runs the tests that are nearest to what changed.

What changed is the difference to main, including what is not committed; on main itself, what is not
committed, or else the last commit. For a changed file of the product, the nearest tests are those that share
the most words with the lines around the change, as in the mutation tests, which mostly find the failing test
in the first four files.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice, zip_longest
from pathlib import Path

from tools.mutants import sources

ROOT = Path(__file__).resolve().parents[1]
ALWAYS = ("tests/meta/test_layers.py", "tests/meta/test_generated.py")
NEAREST = 12
"""Test files for all changes of the product together: about half a minute."""

SLOW = (
    "/conformance/",
    "/commands/test_up.py",
    "/test_schemathesis.py",
    "/test_slices_of_routes.py",
    "/test_state_machine.py",
)
"""Words in the paths of test files that run only if they changed themselves."""

PAGES = ("webapp/templates/", "webapp/static/")
NEAREST_OF_PAGES = 3
"""Test files in the browser: about half a minute."""

FOLDERS = {
    "docs/": "tests/meta/docs",
    "README.md": "tests/meta/docs",
    "tools/": "tests/tools",
    "benchmarks/": "tests/tools",
}


def changed() -> dict[str, str]:
    """The changed files that still exist, each with its changed lines and those around them."""
    base = _git("merge-base", "main", "HEAD").strip()
    untracked = _git("ls-files", "--others", "--exclude-standard").split()
    if base == _git("rev-parse", "HEAD").strip() and not untracked and not _git("status", "--porcelain"):
        base = "HEAD~1"
    parts = re.split(r"^diff --git .*$", _git("diff", "--no-color", "-U9", base), flags=re.MULTILINE)
    lines = {}
    for part in parts:
        if match := re.search(r"^\+\+\+ b/(.+)$", part, re.MULTILINE):
            lines[match[1]] = part.partition("\n@@")[2]
    return lines | {file: (ROOT / file).read_text(errors="replace") for file in untracked}


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def tests_near(changes: dict[str, str]) -> list[str]:
    """The test files to run for these changes."""
    of_product = [
        sources.tests_for(file, lines)
        for file, lines in changes.items()
        if file.endswith((".py", ".lua")) and file.partition("/")[0] in sources.PARTS
    ]
    of_pages = [
        sources.nearest(lines, lines, sources.tests_in("browser"))
        for file, lines in changes.items()
        if file.startswith(PAGES)
    ]
    files = [
        *ALWAYS,
        *filter(_is_test, changes),
        *(folder for file in changes for start, folder in FOLDERS.items() if file.startswith(start)),
        *_importers(file for file in changes if file.startswith("tests/") and not _is_test(file)),
        *_first(NEAREST, of_product),
        *_first(NEAREST_OF_PAGES, of_pages),
    ]
    return list(dict.fromkeys(files))


def _is_test(file: str) -> bool:
    return Path(file).name.startswith("test_") and file.endswith(".py")


def _importers(files: Iterable[str]) -> Iterator[str]:
    """The test files that import one of these modules of tests; those of its folder for a conftest.py."""
    for file in files:
        if Path(file).name == "conftest.py":
            found = (path for path in (ROOT / file).parent.rglob("test_*.py"))
        else:
            module = file.removesuffix(".py").replace("/", ".")
            found = (path for path in (ROOT / "tests").rglob("test_*.py") if module in path.read_text())
        names = (path.relative_to(ROOT).as_posix() for path in found)
        yield from islice((name for name in names if not any(word in name for word in SLOW)), NEAREST)


def _first(count: int, rankings: list[list[str]]) -> Iterator[str]:
    """The first test files of each ranking in turn, without slow ones."""
    in_turn = filter(None, chain.from_iterable(zip_longest(*rankings)))
    quick = (file for file in in_turn if not any(word in file for word in SLOW))
    return islice(dict.fromkeys(quick), count)


def main(options: list[str]) -> int:
    tests = tests_near(changed())
    print("nearest to what changed:", *tests, sep="\n  ", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", *tests, *options]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
