"""The search for the server to use if none is named, for `leaseq.connect` and the command line."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

from leaseq.errors import Invalid

URL_VARIABLE = "LEASEQ_REDIS_URL"
DATA_VARIABLE = "LEASEQ_DATA"
DEFAULT_DATA = "leaseq-data"


def server_url_from_environment() -> str:
    """The server's URL, as the command line finds it without options. Raises Invalid (field ``url``)."""
    data = Path(os.environ.get(DATA_VARIABLE) or DEFAULT_DATA)
    if url := os.environ.get(URL_VARIABLE) or running_url(data):
        return url
    raise Invalid(
        "url", "no_server", variable=URL_VARIABLE, data=str(data.absolute()), data_variable=DATA_VARIABLE
    )


def running_url(data_dir: str | Path) -> str | None:
    """The URL of the server that the running ``up`` of this data directory uses; None if no ``up`` runs."""
    path = Path(data_dir)
    try:
        lock = os.open(path / "up.lock", os.O_RDONLY)
    except OSError:
        return None
    try:
        if try_lock(lock, fcntl.LOCK_SH):
            return None
    finally:
        os.close(lock)
    url = read_state(path).get("url")
    return url if isinstance(url, str) else None


def try_lock(lock: int, kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def read_state(path: Path) -> dict[str, Any]:
    """The content of ``up.json``: url, web, pid, pids; empty if it is missing or invalid."""
    try:
        state = json.loads((path / "up.json").read_text())
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}
