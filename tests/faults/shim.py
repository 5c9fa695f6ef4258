"""Starts servers with a library preloaded in front of the C library; the sources are in ``shim/``."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest

from leaseq.server import embedded

SOURCES = Path(__file__).parent / "shim"
FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")


@cache
def build_library(name: str) -> Path:
    """Build the library from ``shim/<name>.c``, once in each process of a run."""
    if not sys.platform.startswith("linux"):
        pytest.skip("platform: only Linux preloads a library like this one")
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("platform: no C compiler")
    library = _folder() / f"{name}.so"
    source = SOURCES / f"{name}.c"
    subprocess.run([compiler, *FLAGS, "-o", str(library), str(source), "-ldl"], check=True, timeout=120)
    return library


@cache
def _folder() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="leaseq-shim-")
    _folders.append(folder)
    return Path(folder.name)


_folders: list[tempfile.TemporaryDirectory[str]] = []  # until the process ends, which removes them


def environment(name: str, settings: Mapping[str, Path]) -> dict[str, str]:
    """Return the environment variables that preload ``shim/<name>.c``."""
    return {"LD_PRELOAD": str(build_library(name)), **{key: str(path) for key, path in settings.items()}}


@contextmanager
def preload(name: str, settings: Mapping[str, Path]) -> Iterator[None]:
    """Embedded servers that are started within have ``shim/<name>.c`` preloaded."""
    assignments = " ".join(f"{key}='{value}'" for key, value in environment(name, settings).items())
    with tempfile.TemporaryDirectory(prefix="leaseq-shim-") as folder:
        script = Path(folder) / "server.sh"
        script.write_text(f'#!/bin/sh\n{assignments} exec "{embedded.server_binary()}" "$@"\n')
        script.chmod(0o700)
        with patch.object(embedded, "server_binary", lambda: str(script)):
            yield
