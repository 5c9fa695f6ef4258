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

ETAG: Headers = {
    "ETag": {"description": "Identifies the policy, for `If-Match`", "schema": {"type": "string"}},
}
UNASSIGNED_COUNT: Headers = {
    UNASSIGNED: {
        "description": "How many items that were assigned to people who may no longer work on their queue "
        "anybody may have now",
        "schema": {"type": "integer"},
    },
}
UNMATCHED_COUNT: Headers = {
    UNMATCHED: {
        "description": "How many of the teams and skills match nobody: they may be misspelt",
        "schema": {"type": "integer"},
    },
}
LINK: Headers = {
    "Link": {
        "description": '`<...>; rel="next"`: the address of the next page, if there is one',
        "schema": {"type": "string"},
    },
}
ALLOW: Headers = {"Allow": {"schema": {"type": "string"}}}
RATE_LIMIT: Headers = {
    "RateLimit-Limit": {
        "description": "How many requests this token may send in each period, if LEASEQ_RATE_LIMIT is set",
        "schema": {"type": "integer"},
    },
    "RateLimit-Remaining": {"description": "How many of them are left", "schema": {"type": "integer"}},
    "RateLimit-Reset": {"description": "Seconds until the next period", "schema": {"type": "integer"}},
}
RETRY_AFTER: Headers = {"Retry-After": {"description": "Seconds", "schema": {"type": "integer"}}}
REPLAYED: Headers = {
    REPLAYED_HEADER: {
        "description": "Only if this is the stored response to an earlier request with the same key",
        "schema": {"enum": ["true"]},
    },
}

KEYED_REQUEST_HEADERS: Headers = {
    HEADER: {
        "description": "Makes the request safe to repeat: it takes effect once, with the same response. Use "
        "a new key for each body",
        "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY, "pattern": PRINTABLE},
    },
}
IF_MATCH: Headers = {
    "If-Match": {
        "description": "The `ETag` that the policy must still have, with its quotes, otherwise 412; *: any "
        "existing queue",
        "schema": {"type": "string", "pattern": TAGS_PATTERN},
    },
}
REQUEST_HEADERS: dict[str, Headers] = {
    "DELETE /queues/{q}": IF_MATCH,
    "PUT /queues/{q}": {
        **IF_MATCH,
        "If-None-Match": {
            "description": "*: only if there is no queue yet, otherwise 412",
            "schema": {"type": "string", "enum": ["*"]},
        },
    },
    "GET /queues/{q}/events": {
        LAST_EVENT_ID: {
            "description": "The id of the last event seen, to continue after it",
            "schema": {"type": "string", **EVENT},
        },
    },
}
"""Request headers of single calls, in addition to those of every call."""

RESPONSE_HEADERS: dict[str, Headers] = {
    "DELETE /people/{name}": {
        ERASED_AS: {
            "description": "The random name that replaces theirs, in this response only",
            "schema": {"type": "string"},
        },
    },
    "PUT /people/{name}": UNASSIGNED_COUNT,
    "PUT /queues/{q}/access": {**UNASSIGNED_COUNT, **UNMATCHED_COUNT},
    "GET /queues/{q}": ETAG,
    "PUT /queues/{q}": ETAG,
    **dict.fromkeys(
        (
            "GET /queues",
            "GET /queues/{q}/items",
            "GET /queues/{q}/search",
            "GET /queues/{q}/due",
            "GET /queues/{q}/late",
            "GET /queues/{q}/answers/new",
            "GET /queues/{q}/mine",
            "GET /queues/{q}/journal",
            "GET /people",
            "GET /invitations",
            "GET /tokens",
            "GET /log",
            "GET /webhooks",
        ),
        LINK,
    ),
}
"""Headers of successful responses."""
