"""The headers of the OpenAPI document."""

from __future__ import annotations

from typing import Any

from leaseq.webapp.api.idempotency import HEADER, MAX_KEY, REPLAYED_HEADER
from leaseq.webapp.api.models.requests import EVENT, PRINTABLE

LAST_EVENT_ID = "Last-Event-ID"
ERASED_AS = "X-Leaseq-Erased-As"
UNASSIGNED = "X-Leaseq-Unassigned"
UNMATCHED = "X-Leaseq-Unmatched"
Headers = dict[str, Any]

TAGS_PATTERN = r'^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$'
"""The pattern of `If-Match`: an asterisk, or tags in quotes."""


def _text(description: str, **schema: Any) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "string", **schema}}


def _number(description: str) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "integer"}}


ETAG: Headers = {"ETag": _text("Identifies the policy, for `If-Match`")}
UNASSIGNED_COUNT: Headers = {
    UNASSIGNED: _number(
        "How many items that were assigned to people who may no longer work on their queue anybody may "
        "have now"
    ),
}
UNMATCHED_COUNT: Headers = {
    UNMATCHED: _number("How many of the teams and skills match nobody: they may be misspelt"),
}
LINK: Headers = {"Link": _text('`<...>; rel="next"`: the address of the next page, if there is one')}
ALLOW: Headers = {"Allow": {"schema": {"type": "string"}}}
RATE_LIMIT: Headers = {
    "RateLimit-Limit": _number(
        "How many requests this token may send in each period, if LEASEQ_RATE_LIMIT is set"
    ),
    "RateLimit-Remaining": _number("How many of them are left"),
    "RateLimit-Reset": _number("Seconds until the next period"),
}
RETRY_AFTER: Headers = {"Retry-After": _number("Seconds")}
REPLAYED: Headers = {
    REPLAYED_HEADER: {
        "description": "Only if this is the stored response to an earlier request with the same key",
        "schema": {"enum": ["true"]},
    },
}

KEYED_REQUEST_HEADERS: Headers = {
    HEADER: _text(
        "Makes the request safe to repeat: it takes effect once, with the same response. Use a new key for "
        "each body",
        minLength=1,
        maxLength=MAX_KEY,
        pattern=PRINTABLE,
    ),
}
IF_MATCH: Headers = {
    "If-Match": _text(
        "The `ETag` that the policy must still have, with its quotes, otherwise 412; *: any existing queue",
        pattern=TAGS_PATTERN,
    ),
}
REQUEST_HEADERS: dict[str, Headers] = {
    "DELETE /queues/{q}": IF_MATCH,
    "PUT /queues/{q}": {
        **IF_MATCH,
        "If-None-Match": _text("*: only if there is no queue yet, otherwise 412", enum=["*"]),
    },
    "GET /queues/{q}/events": {
        LAST_EVENT_ID: _text("The id of the last event seen, to continue after it", **EVENT),
    },
}
"""Request headers of single calls, in addition to those of every call."""

RESPONSE_HEADERS: dict[str, Headers] = {
    "DELETE /people/{name}": {
        ERASED_AS: _text("The random name that replaces theirs, in this response only"),
    },
    "PUT /people/{name}": UNASSIGNED_COUNT,
    "PUT /queues/{q}/access": {**UNASSIGNED_COUNT, **UNMATCHED_COUNT},
    "GET /queues/{q}": ETAG,
    "PUT /queues/{q}": ETAG,
}
"""Headers of successful responses, in addition to those of every list."""
