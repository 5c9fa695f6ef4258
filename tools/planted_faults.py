"""Plants one fault at a time: copies the tree, changes one of its files, and runs the tests there.

``tools.mutants`` plants faults, ``tools.remove_guards`` removes guards.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from queue import SimpleQueue
from typing import Protocol, TypeVar

ROOT = Path(__file__).parents[1]
_IGNORE = shutil.ignore_patterns(".*", "__pycache__", "leaseq-data")


class Change(Protocol):
    """A change of one file."""

    @property
    def file(self) -> str: ...

    def apply(self, text: str) -> str: ...


C = TypeVar("C", bound=Change)
R = TypeVar("R")


@contextmanager
def copies(count: int) -> Iterator[list[Path]]:
    """Yield this many copies of the tree, in the folder for temporary files."""
    with tempfile.TemporaryDirectory(prefix="leaseq-planting-") as folder:
        trees = [Path(folder) / f"tree{number}" for number in range(count)]
        for source, tree in pairwise([ROOT, *trees]):  # all equal to the first, even if ROOT is being edited
            shutil.copytree(source, tree, ignore=_IGNORE, symlinks=True)
        yield trees


def try_each(trees: Iterable[Path], changes: Sequence[C], check: Callable[[Path, C], R]) -> list[R]:
    """Return what ``check`` finds with each change in place. A tree has one change at a time."""
    free: SimpleQueue[Path] = SimpleQueue()
    for tree in trees:
        free.put(tree)

    def try_one(change: C) -> R:
        tree = free.get()
        try:
            with plant(tree, change):
                return check(tree, change)
        finally:
            free.put(tree)

    with ThreadPoolExecutor(free.qsize()) as pool:
        return list(pool.map(try_one, changes))


@contextmanager
def plant(tree: Path, change: Change) -> Iterator[None]:
    path = tree / change.file
    original = path.read_text()
    _write(path, change.apply(original))
    try:
        yield
    finally:
        _write(path, original)
        # What Hypothesis found with this change in place must not fail the test of the next one.
        shutil.rmtree(tree / ".hypothesis", ignore_errors=True)


def _write(path: Path, text: str) -> None:
    """With what Python keeps of it gone: that goes by seconds and size, and these may be the same."""
    path.write_text(text)
    for cache_file in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
        cache_file.unlink()


def run(tree: Path, tests: Iterable[str], timeout: float, *options: str) -> subprocess.CompletedProcess[str]:
    """pytest's run of these tests; subprocess.TimeoutExpired after ``timeout`` seconds, with all ended that
    it had started."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *tests]
    with subprocess.Popen(
        command,
        cwd=tree,
        # Compiled files are kept: without them, half of a run is compiling.
        env={**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        finally:
            with suppress(ProcessLookupError):  # a server may outlive a test that was ended
                os.killpg(process.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def failures(completed: subprocess.CompletedProcess[str]) -> str:
    """The number of failed tests, in pytest's words; '' if none did or none ran, since then no test
    noticed."""
    if completed.returncode not in (0, 1):
        print(completed.stdout[-1_500:], file=sys.stderr)
        return ""
    match = re.search(r"(\d+) (?:failed|error)", completed.stdout)
    return match[0] if match else ""


def nodes(test: str) -> list[str]:
    """The test functions with that name, as pytest's node ids."""
    return [f"{file}::{test}" for file in _test_files()[test]]


@cache
def _test_files() -> dict[str, list[str]]:
    """The files that have a test with that name."""
    files: dict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in re.findall(r"^def (test_\w+)\(", path.read_text(), re.MULTILINE):
            files[name].append(path.relative_to(ROOT).as_posix())
    return files
