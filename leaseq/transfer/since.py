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
_CURSOR = re.compile(r"(\d{1,16})((?:\.\d{1,16})*)", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PAGE = 500


class AnswerSource(Protocol):
    """The method of a queue by which its answers are read."""

    def find(self, state: ListName, where: Filter, /, *, limit: int, after: str | None) -> Page: ...


class AnswersSince(Iterator[Answer]):
    """The answers that were accepted after a cursor, in that order.

    ``cursor`` is where the next call goes on, at any time during the iteration: behind the answers that it
    gave. It is the time of the last one, with the tokens of those of that time: of equal times none is left
    out, and none comes twice. An answer that a manager adopts or corrects comes when they do it. One that
    is undone or deleted before it was read does not come.
    """

    def __init__(self, queue: AnswerSource, after: str = BEGINNING) -> None:
        self._time, self._tokens = _parsed(after)
        self._answers = self._walk(queue)

    @property
    def cursor(self) -> str:
        return ".".join(map(str, (self._time, *sorted(self._tokens))))

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


def _parsed(cursor: str) -> tuple[int, set[int]]:
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise Invalid("after", "a cursor of an export, or 0 for the beginning", f"{cursor!r} is no cursor")
    return int(match[1]), set(map(int, filter(None, match[2].split("."))))
