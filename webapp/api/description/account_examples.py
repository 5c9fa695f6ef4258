"""The examples of calls about people, tokens and invitations."""

from __future__ import annotations

from typing import Any

_AT, _UNTIL = "2026-11-21T10:00:00.123Z", "2026-12-21T10:00:00.123Z"
_PERSON = {
    "name": "alice",
    "role": "worker",
    "skills": ["fr"],
    "team": "Refunds",
    "disabled": False,
    "created_at": _AT,
}
_TOKEN = {
    "scope": "work",
    "queue": None,
    "expires_at": _UNTIL,
    "id": "5f0c9a31d2e4",
    "name": "nightly import",
    "person": "alice",
    "created_at": _AT,
    "used_at": None,
}
_NEW_TOKEN = {**_TOKEN, "token": "leaseq_4fKX0dPq7Vn1c2Jr9uWz5sYbTg8hLmEo"}
_INVITATION = {
    "id": "8be1f7a4c220",
    "name": "bob",
    "role": "worker",
    "skills": ["fr"],
    "team": "Refunds",
    "by": "ann",
    "created_at": _AT,
    "expires_at": "2026-11-28T10:00:00.123Z",
}
_LINK = {"link": "https://example.org/welcome?token=pJ3xR0c8"}
_ENTRY = {
    "at": _AT,
    "by": "ann",
    "what": "queue.paused",
    "about": "reviews",
    "detail": "reason: Lunch until two",
}

PATHS = {"token": "5f0c9a31d2e4", "invitation": "8be1f7a4c220"}
REQUESTS: dict[str, dict[str, Any]] = {
    "PUT /people/{name}": {"a worker": {"role": "worker", "skills": ["fr"]}},
    "POST /people/{name}/password-link": {"create": {}},
    "POST /tokens": {"for an import": {"name": "nightly import", "scope": "enqueue", "days": 30}},
    "POST /tokens/{token}/rotate": {"rotate": {}},
    "POST /invitations": {"one person": {"name": "bob", "skills": ["fr"], "team": "Refunds", "days": 7}},
}
RESPONSES: dict[str, dict[str, Any]] = {
    "GET /people": {"people": [_PERSON], "after": None},
    "GET /people/{name}": _PERSON,
    "GET /people/{name}/export": {
        "format": "leaseq.person/1",
        "name": "alice",
        "exported_at": _AT,
        "account": _PERSON,
        "items": [],
    },
    "PUT /people/{name}": _PERSON,
    "POST /people/{name}/password-link": _LINK,
    "GET /me": {
        "name": "alice",
        "role": "worker",
        "skills": ["fr"],
        "token": {"scope": "work", "queue": None, "expires_at": _UNTIL},
    },
    "GET /tokens": {"tokens": [_TOKEN], "after": None},
    "POST /tokens": _NEW_TOKEN,
    "POST /tokens/{token}/rotate": _NEW_TOKEN,
    "GET /invitations": {"invitations": [_INVITATION], "after": None},
    "POST /invitations": {**_INVITATION, **_LINK},
    "GET /log": {"entries": [_ENTRY], "after": None},
}
