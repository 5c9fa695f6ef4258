"""An unexplained skip fails the run, as conftest.py promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
UNEXPLAINED = {
    "test_skip.py": "def test_it(): pytest.skip('not today')",
    "test_module.py": "pytest.importorskip('no_such_module')",
    "test_failure.py": "@pytest.mark.xfail\ndef test_it(): assert False",
}
EXPLAINED = "def test_it(): pytest.skip('platform: only a Mac can')"


def run_pytest(folder: Path, files: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """pytest's run of these files, with the project's options of every run."""
    folder.mkdir()
    (folder / "conftest.py").symlink_to(ROOT / "conftest.py")
    (folder / "pytest.ini").touch()
    for name, body in files.items():
        (folder / name).write_text(f"import pytest\n{body}\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "xdist", *options]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # other plugins only take time here
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_unexplained_skip_fails_run(tmp_path: Path) -> None:
    passing = {"test_passes.py": "def test_it(): pass"}
    assert run_pytest(tmp_path / "explained", {**passing, "test_mac.py": EXPLAINED}).returncode == 0
    for name, body in UNEXPLAINED.items():
        completed = run_pytest(tmp_path / Path(name).stem, {**passing, name: body})
        assert completed.returncode == 1, completed.stdout
        assert name in completed.stdout.rpartition("without a reason")[2]


def test_unexplained_skip_in_worker_fails_run(tmp_path: Path) -> None:
    assert run_pytest(tmp_path / "workers", UNEXPLAINED, "-n", "1").returncode == 1
