"""Reads the answers that are new since the last call: each once, over any number of calls."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Protocol

from leaseq import validation
from leaseq.engine import codec
from leaseq.errors import Invalid
from leaseq.models import Answer, Filter, Item, ListName, Page

BEGINNING = "0"
"""The cursor before every answer."""
# The queue, a time, and either the tokens of the answers of that time or a place in the list.
_CURSOR = re.compile(r"([a-z0-9._-]{1,64}):([0-9]{1,16})(?:((?:\.[0-9]{1,16})*)|/([A-Za-z0-9_=-]{1,1100}))")
_LIMIT = f"a cursor of a queue's answers, or {BEGINNING} for the beginning"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PAGE = 500
_MAX_TOKENS = 100  # in one cursor, which must fit in a URL


class AnswerSource(Protocol):
    """The parts of a queue that are used here: its name, and the method that reads its answers."""

    name: str

    def find(self, state: ListName, where: Filter, /, *, limit: int, after: str | None) -> Page: ...


class AnswersSince(Iterator[Answer]):
    """The answers accepted after a cursor, in the order of acceptance: all of them, or the next ``limit``.

    ``cursor`` can be read at any time during the iteration. It is where a later iteration must begin: after
    the answers returned so far. It consists of the queue's name, the time of the last answer and the tokens
    of the answers with that time, so that none of them is left out or returned twice. Raises Invalid for a
    cursor of another queue. An answer that a manager adopts or corrects has the time at which they did it.
    An answer that is undone, reopened or deleted before it is read is not returned. ``more`` is true if the
    iteration ended at the limit and there are more answers.

    Only answers put back by `restore` can have equal times. If there are more than 100 of one time, the
    cursor contains the place of the last one instead of the tokens: then an answer may be left out or
    returned twice if others of the same time are put back between two calls.
    """

    def __init__(self, queue: AnswerSource, after: str = BEGINNING, *, limit: int | None = None) -> None:
        self._name = queue.name
        self._time, self._tokens, self._place = _parse_cursor(after, queue.name)
        self.more = False
        maximum = None if limit is None else validation.integer(limit, "limit", 1, 2**53)
        self._answers = self._walk(queue, maximum)

    @property
    def cursor(self) -> str:
        if self._place is not None:
            return f"{self._name}:{self._time}/{urlsafe_b64encode(self._place.encode()).decode()}"
        return f"{self._name}:{'.'.join(map(str, (self._time, *sorted(self._tokens))))}"

    def __next__(self) -> Answer:
        return next(self._answers)

    def _walk(self, queue: AnswerSource, remaining: int | None) -> Iterator[Answer]:
        criteria, place = Filter(since=_EPOCH + timedelta(microseconds=self._time)), self._place
        token_count = len(self._tokens)  # a list that starts at the cursor's time begins with these answers
        while True:
            size = _PAGE if remaining is None else min(_PAGE, remaining + token_count)
            page = queue.find("finished", criteria, limit=size, after=place)
            for item in page.items:
                for answer in item.answers:
                    if self._is_before_cursor(item, answer.token):
                        continue
                    if remaining == 0:
                        self.more = True
                        return
                    remaining = None if remaining is None else remaining - 1
                    self._advance(item, answer.token)
                    yield answer
            place = page.after
            self.more = remaining == 0 and place is not None
            if place is None or self.more:
                return

    def _is_before_cursor(self, item: Item, token: int) -> bool:
        return codec.microseconds(item.state_since) == self._time and token in self._tokens

    def _advance(self, item: Item, token: int) -> None:
        """Move the cursor past an answer."""
        time = codec.microseconds(item.state_since)
        if time != self._time:
            self._time, self._tokens, self._place = time, set(), None
        if self._place is None and len(self._tokens) < _MAX_TOKENS:
            self._tokens.add(token)
        else:
            self._place = item.cursor


def _parse_cursor(cursor: str, queue: str) -> tuple[int, set[int], str | None]:
    """The cursor's time, its tokens, and its place, if it has one instead of tokens."""
    if cursor == BEGINNING:
        return 0, set(), None
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise validation.refusal("after", _LIMIT, cursor)
    name, time, tokens, place = match.groups()
    if name != queue:
        limit = f"a cursor of the queue {queue!r}, or {BEGINNING} for the beginning"
        raise Invalid("after", limit, f"after: {limit}; this one is of the queue {name!r}")
    if place is None:
        return int(time), set(map(int, filter(None, tokens.split(".")))), None
    try:
        return int(time), set(), urlsafe_b64decode(place).decode()
    except ValueError:
        raise validation.refusal("after", _LIMIT, cursor) from None
