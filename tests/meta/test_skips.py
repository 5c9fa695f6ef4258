"""The rule of conftest.py: an unexplained skip fails the run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SKIPS = {
    "a skip in a test": "def test_it(): pytest.skip('not today')",
    "a skipped module": "pytest.importorskip('no_such_module')",
    "an expected failure": "@pytest.mark.xfail\ndef test_it(): assert False",
}


def run_pytest(folder: Path, body: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_it.py").write_text(f"import pytest\n{body}\ndef test_other(): pass\n")
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "xdist",
        *arguments,
        str(folder),
    ]
    env = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # other plugins only take time here
    return subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("body", SKIPS.values(), ids=SKIPS)
def test_an_unexplained_skip_fails_the_run(tmp_path: Path, body: str) -> None:
    completed = run_pytest(tmp_path, body)
    assert completed.returncode == 1, completed.stdout
    assert "skipped without a reason" in completed.stdout


def test_unexplained_skip_fails_run_with_two_workers(tmp_path: Path) -> None:
    assert run_pytest(tmp_path, SKIPS["a skip in a test"], "-n", "2").returncode == 1


def test_skip_with_platform_reason_is_accepted(tmp_path: Path) -> None:
    completed = run_pytest(tmp_path, "def test_it(): pytest.skip('platform: only a Mac can')")
    assert completed.returncode == 0, completed.stdout
