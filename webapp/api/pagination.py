"""Lists in pages. A cursor names the last entry returned, so that new entries don't shift the pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import nsmallest
from typing import Any, TypeVar
from urllib.parse import urlencode

from flask import Response, g, request
from pydantic import ConfigDict, Field

from leaseq.webapp.api.request_model import RequestModel

_Entry = TypeVar("_Entry")
_Key = TypeVar("_Key", str, int)

AFTER = "The cursor from the previous page"
LIMIT = "The maximum number of entries, default 100"


def no_defaults(schema: dict[str, Any]) -> None:
    """Remove the defaults from a schema: a generated client would send them, although nobody set them."""
    for field in schema.get("properties", {}).values():
        field.pop("default", None)


class Query(RequestModel):
    """A query without unknown parameters."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=no_defaults)


class PageQuery(Query):
    after: str | None = Field(None, description=AFTER, min_length=1)
    limit: int = Field(100, ge=1, le=1_000, description=LIMIT)


class LeasesQuery(PageQuery):
    after: str | None = Field(None, description=AFTER, pattern="^[0-9]{1,16}$")


class LateQuery(PageQuery):
    after: str | None = Field(
        None,
        description=AFTER,
        pattern=r"^[0-9a-f]{16}/([0-9]{1,19}|end)/[A-Za-z0-9._~%-]*/[A-Za-z0-9._~%,-]*$",
    )
    limit: int = Field(
        100, ge=1, le=1_000, description="The maximum number of items with late answers, default 100"
    )


def page_of(
    every: Iterable[_Entry], key: Callable[[_Entry], _Key], after: _Key | None, limit: int
) -> tuple[list[_Entry], str | None]:
    """The entries after ``after``, by the order of ``key``, and the cursor of the next page; None at the
    end."""
    entries = nsmallest(limit + 1, (one for one in every if after is None or key(one) > after), key=key)
    page = entries[:limit]
    return page, str(key(page[-1])) if len(entries) > limit else None


def list_response(
    name: str, entries: list[dict[str, Any]], after: str | None, **members: Any
) -> dict[str, Any]:
    """One page of a list: its entries under ``name``, and the cursor of the next page."""
    g.next_page = after
    return {name: entries, **members, "after": after}


def link_next_page(response: Response) -> Response:
    """Name the next page's address in a `Link` header (RFC 8288), for clients that follow it."""
    after = g.get("next_page")
    if after is not None:
        query = urlencode({**request.args, "after": after})
        response.headers["Link"] = f'<{request.base_url}?{query}>; rel="next"'
    return response
