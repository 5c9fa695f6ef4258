"""TypeScript in tests: the programs that npm installs from requirements/npm (see ./dev)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(sys.prefix) / "npm" / "node_modules" / ".bin"
needs_typescript = pytest.mark.skipif(
    not (shutil.which("node") and (PROGRAMS / "tsc").exists()),
    reason="platform: there is no node, or npm could not install requirements/npm",
)


def npx(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line of ``npx``, given without ``npx``."""
    program, *arguments = command.split()
    return subprocess.run(
        [PROGRAMS / program, *arguments],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
