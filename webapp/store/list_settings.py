"""The settings of a queue's lists: the columns that managers chose, and searches saved under a name.

They are shared by all managers of the queue.

Hash, per queue: "columns" -> names (JSON list), "view NAME" -> query string.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from leaseq import Invalid
from leaseq.backup import StoredKeys
from leaseq.webapp.store.base import Store

MAX_COLUMNS = 8
MAX_VIEWS = 30
MAX_NAME = 60
_MAX_COLUMN = 200
_MAX_QUERY = 2_000
_BASE = "leaseq:{@lists}:"  # no queue can have this name: it has an '@'
_VIEW = "view "
STORED = (StoredKeys(_BASE + "*", "hash"),)


@dataclass(frozen=True, slots=True)
class ListSettings:
    columns: tuple[str, ...] = ()
    views: dict[str, str] = field(default_factory=dict)  # query strings by name, sorted by name


class ListSettingsStore(Store):
    """The settings of each queue's lists."""

    def get(self, queue: str) -> ListSettings:
        fields = self._redis.hgetall(_BASE + queue)
        texts = {name.decode(): value.decode() for name, value in fields.items()}
        views = {name.removeprefix(_VIEW): query for name, query in texts.items() if name.startswith(_VIEW)}
        by_name = sorted(views.items(), key=lambda view: view[0].casefold())
        return ListSettings(tuple(json.loads(texts.get("columns", "[]"))), dict(by_name))

    def forget_queue(self, queue: str) -> None:
        """Delete the settings of a queue that is deleted."""
        self._client.ask(("UNLINK", _BASE + queue))

    def of_person(self, person: str) -> Iterator[tuple[str, str, str]]:
        """The queue, the name and the search of each saved view that searches for a person."""
        for keys in self._keys_like(_BASE + "*"):
            for queue in (key.removeprefix(_BASE) for key in keys):
                for view, query in self.get(queue).views.items():
                    if _renamed(query, person, "") != query:
                        yield queue, view, query

    def rename_person(self, person: str, to: str) -> None:
        """Replace a person's name in the saved views that search for it."""
        for queue, view, query in list(self.of_person(person)):
            self._redis.hset(_BASE + queue, _VIEW + view, _renamed(query, person, to))

    def choose_columns(self, queue: str, columns: Sequence[str]) -> None:
        """Set the columns. Raises Invalid."""
        names = list(dict.fromkeys(name for name in columns if name))
        if len(names) > MAX_COLUMNS:
            raise Invalid("columns", "maximum", what="columns", maximum=MAX_COLUMNS, count=len(names))
        if any(len(name) > _MAX_COLUMN for name in names):
            raise Invalid("columns", "maximum", what="column_names", maximum=_MAX_COLUMN)
        self._redis.hset(_BASE + queue, "columns", json.dumps(names))

    def save_view(self, queue: str, name: str, query: str) -> None:
        """Save a search, replacing the one of that name. Raises Invalid."""
        if not 1 <= len(name) <= MAX_NAME:
            raise Invalid("view", "length", minimum=1, maximum=MAX_NAME, count=len(name))
        if len(query) > _MAX_QUERY:
            raise Invalid("search", "length", minimum=0, maximum=_MAX_QUERY, count=len(query))
        views = self.get(queue).views
        if name not in views and len(views) >= MAX_VIEWS:
            raise Invalid("view", "maximum", what="views", maximum=MAX_VIEWS)
        self._redis.hset(_BASE + queue, _VIEW + name, query)

    def remove_view(self, queue: str, name: str) -> None:
        self._redis.hdel(_BASE + queue, _VIEW + name)


def _renamed(query: str, person: str, to: str) -> str:
    """A search with a person's name replaced; unchanged if it does not contain the name."""
    values = parse_qsl(query, keep_blank_values=True)
    if person not in (value for _, value in values):
        return query
    return urlencode([(name, to if value == person else value) for name, value in values])
