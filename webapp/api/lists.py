"""Lists a page at a time. A cursor names the last one seen, so nothing shifts it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field

_One = TypeVar("_One")
_Key = TypeVar("_Key", str, int)

AFTER = "The cursor that the page before gave"
LIMIT = "How many at most"


class PageQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    after: str | None = Field(None, description=AFTER, min_length=1)
    limit: int = Field(100, ge=1, le=1_000, description=LIMIT)


class LeasesQuery(PageQuery):
    after: str | None = Field(None, description=AFTER, pattern="^[0-9]{1,16}$")


def page_of(
    every: Iterable[_One], key: Callable[[_One], _Key], after: _Key | None, limit: int
) -> tuple[list[_One], str | None]:
    """What follows ``after``, by the order of ``key``, and the cursor that leads on: None at the end."""
    left = sorted((one for one in every if after is None or key(one) > after), key=key)
    page = left[:limit]
    return page, str(key(page[-1])) if len(left) > limit else None
