"""The answers that are new since the last time: each once, over any number of calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Protocol

from leaseq.engine import codec
from leaseq.errors import Invalid
from leaseq.models import Answer, Filter, ListName, Page

BEGINNING = "0"
"""The cursor before every answer."""
_CURSOR = re.compile(r"([a-z0-9._-]{1,64}):(\d{1,16})((?:\.\d{1,16})*)", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PAGE = 500


class AnswerSource(Protocol):
    """What is used of a queue: its name, and the method by which its answers are read."""

    name: str

    def find(self, state: ListName, where: Filter, /, *, limit: int, after: str | None) -> Page: ...


class AnswersSince(Iterator[Answer]):
    """The answers that were accepted after a cursor, in that order.

    ``cursor`` is where the next call goes on, at any time during the iteration: behind the answers that it
    gave. It is the queue's name and the time of the last one, with the tokens of those of that time: of equal
    times none is left out, and none comes twice. Raises Invalid for a cursor of another queue. An answer that
    a manager adopts or corrects comes when they do it. One that is undone or deleted before it was read does
    not come.
    """

    def __init__(self, queue: AnswerSource, after: str = BEGINNING) -> None:
        self._name = queue.name
        self._time, self._tokens = _parsed(after, queue.name)
        self._answers = self._walk(queue)

    @property
    def cursor(self) -> str:
        return f"{self._name}:{'.'.join(map(str, (self._time, *sorted(self._tokens))))}"

    def __next__(self) -> Answer:
        return next(self._answers)

    def _walk(self, queue: AnswerSource) -> Iterator[Answer]:
        where, place = Filter(since=_EPOCH + timedelta(microseconds=self._time)), None
        while True:
            page = queue.find("finished", where, limit=_PAGE, after=place)
            for item in page.items:
                for answer in item.answers:
                    if self._pass(codec.microseconds(item.state_since), answer.token):
                        yield answer
            if (place := page.after) is None:
                return

    def _pass(self, time: int, token: int) -> bool:
        """Move the cursor behind an answer; False where it was behind it already."""
        if time == self._time and token in self._tokens:
            return False
        if time > self._time:
            self._time, self._tokens = time, set()
        self._tokens.add(token)
        return True


def _parsed(cursor: str, queue: str) -> tuple[int, set[int]]:
    if cursor == BEGINNING:
        return 0, set()
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        limit = f"a cursor of an export, or {BEGINNING} for the beginning"
        raise Invalid("after", limit, f"after: {limit}; {cursor!r} is no cursor")
    if match[1] != queue:
        limit = f"a cursor of the queue {queue!r}, or {BEGINNING} for the beginning"
        raise Invalid("after", limit, f"after: {limit}; this one is of the queue {match[1]!r}")
    return int(match[2]), set(map(int, filter(None, match[3].split("."))))
