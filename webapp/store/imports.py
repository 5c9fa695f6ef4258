"""Import jobs: their state, and their end if a process stops."""

from __future__ import annotations

from collections.abc import Iterator

from leaseq.backup import LeftOut
from leaseq.webapp.store.base import Store

_BASE = "leaseq:{@imports}:"
STORED = (LeftOut(_BASE + "*", "an import job ends within minutes, and its file is not stored"),)


def run(id: str) -> str:
    """Hash: the record of a job; one field is ``queue``."""
    return f"{_BASE}run:{id}"


def bad_rows(id: str) -> str:
    """List: its rejected rows, as JSON."""
    return f"{_BASE}bad:{id}"


def latest(queue: str) -> str:
    """List: the ids of a queue's latest jobs."""
    return f"{_BASE}latest:{queue}"


class Imports(Store):
    def of_person(self, person: str) -> Iterator[str]:
        """The ids of the jobs that a person started."""
        for keys in self._keys_like(run("*")):
            makers = self._client.ask(*(("HGET", key, "by") for key in keys))
            for key, by in zip(keys, makers, strict=True):
                if by == person.encode():
                    yield key.removeprefix(run(""))

    def rename_person(self, person: str, to: str) -> None:
        """Replace a person's name."""
        for id in list(self.of_person(person)):
            self._client.ask(("HSET", run(id), "by", to))

    def forget_queue(self, queue: str) -> None:
        """Delete the import jobs of a queue, with their rejected rows."""
        for keys in self._keys_like(run("*")):
            queues = self._client.ask(*(("HGET", key, "queue") for key in keys))
            for key, name in zip(keys, queues, strict=True):
                if name == queue.encode():
                    id = key.removeprefix(run(""))
                    self._client.ask(("UNLINK", key), ("UNLINK", bad_rows(id)))
        self._client.ask(("UNLINK", latest(queue)))
