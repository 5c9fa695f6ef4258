"""The import jobs of all queues, for the deletion of a queue and the erasure of a person. The jobs themselves
are in webapp/manage/import_jobs.py."""

from __future__ import annotations

from collections.abc import Iterator

from leaseq.webapp.store import import_keys
from leaseq.webapp.store.base import Store


class Imports(Store):
    def of_person(self, person: str) -> Iterator[str]:
        """The ids of the jobs that a person started."""
        for keys in self._keys_like(import_keys.run("*")):
            makers = self._client.ask(*(("HGET", key, "by") for key in keys))
            for key, by in zip(keys, makers, strict=True):
                if by == person.encode():
                    yield key.removeprefix(import_keys.run(""))

    def rename_person(self, person: str, to: str) -> None:
        """Replace a person's name."""
        for id in list(self.of_person(person)):
            self._client.ask(("HSET", import_keys.run(id), "by", to))

    def forget_queue(self, queue: str) -> None:
        """Delete the import jobs of a queue, with their rejected rows."""
        for keys in self._keys_like(import_keys.run("*")):
            queues = self._client.ask(*(("HGET", key, "queue") for key in keys))
            for key, name in zip(keys, queues, strict=True):
                if name == queue.encode():
                    id = key.removeprefix(import_keys.run(""))
                    self._client.ask(("UNLINK", key), ("UNLINK", import_keys.bad_rows(id)))
        self._client.ask(("UNLINK", import_keys.latest(queue)))
