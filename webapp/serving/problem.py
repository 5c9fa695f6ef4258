"""An error of the web app as a value, and as the JSON that programs read (RFC 9457)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any


class Problem(Exception):
    """An error response: its status, its stable code, its detail, and members of its own."""

    def __init__(self, status: int, code: str, detail: str, **members: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.members = members
        self.headers: dict[str, str] = {}


MEANINGS = {
    "invalid": "A field was refused before anything changed; `field` and `limit` say which and why. Correct "
    "it.",
    "unauthorized": "There is no valid token or session. Send `Authorization: Bearer <token>`; an expired "
    "token needs a new one.",
    "forbidden": "Another role, scope or access is required, which `detail` names, or the CSRF token is "
    "missing. Use a token that has it, or ask an admin.",
    "not-found": "There is no such queue, item, person or path, or you have no access to the queue, or never "
    "had a lease of the item. Compare the path; a queue is made by `PUT`.",
    "method-not-allowed": "`Allow` lists the methods of this path. Use one of them.",
    "not-acceptable": "The call gives no type that the `Accept` header accepts; `detail` lists its types.",
    "request-timeout": "The rest of the body did not arrive in time. Nothing was done, but rows of a stream "
    "that came before may have been added. Send it again.",
    "lease-lost": "The caller no longer holds this lease; `state` is the item's now, `answer_kept` whether "
    "the answer was kept as a late one. Don't send it again: reserve the next item.",
    "conflict": "An item with this id and a different payload exists. Use another id; to change an "
    "item that waits, `PATCH` it.",
    "in-progress": "The first request with this `Idempotency-Key` is still being processed. Send it again "
    "after `Retry-After` seconds.",
    "answer-not-kept": "The request with this key was done; its answer was too large to be kept, or has a "
    "secret. Read what it changed; a secret that was lost is replaced by `rotate`.",
    "policy-changed": "The policy is not the one that `If-Match` names; nothing changed. GET the queue, and "
    "send the `ETag` that it has now.",
    "queue-exists": "`If-None-Match: *`, and there is a queue of this name; nothing changed. To change it, "
    "leave the header out.",
    "too-large": "The body, or a payload, result or draft in it, is over its limit, which `limit` names. "
    "Send items in several requests or as `application/x-ndjson`; keep large files elsewhere, and their "
    "addresses in the payload.",
    "unsupported-media-type": "Send JSON as `application/json`.",
    "form": "The result does not fit the queue's form: `errors` has it by field. The lease stays valid: "
    "correct the result and finish again.",
    "key-reused": "This `Idempotency-Key` was used for another body. Use a new key for each body.",
    "too-many-requests": "This token or person sends too many requests, or has too many open. Wait for "
    "`Retry-After` seconds.",
    "internal": "The error was logged; the request may or may not have taken effect. Read the state before "
    "you send it again, and give `request_id` to the operator.",
    "server-unavailable": "The queue's server can't be reached, or the web app is overloaded. Send it again "
    "after `Retry-After` seconds.",
    "server-refused": "The server refused the call: out of memory, read-only, or not permitted. Tell the "
    "operator, and send it again after `Retry-After` seconds.",
    "queue-unreadable": "Another version of leaseq wrote this queue; other queues are not affected. The "
    "operator has to update leaseq.",
}
"""What each code of a problem means, and what to do, for the description of REST."""

_TITLES = {413: "Content too large", 414: "URI too long", 422: "Unprocessable content"}
"""Titles that HTTPStatus does not give in sentence case: Python 3.11 has older phrases; URI is an acronym."""


def title_of(status: int) -> str:
    return _TITLES.get(status) or HTTPStatus(status).phrase.capitalize()


def type_of(code: str) -> str:
    """The type's URI: where the description of REST explains the code."""
    return f"/api/v1/docs#problem-{code}" if code in MEANINGS else "about:blank"


def body_of(problem: Problem, request_id: str | None) -> dict[str, Any]:
    return {
        "type": type_of(problem.code),
        "title": title_of(problem.status),
        "status": problem.status,
        "code": problem.code,
        "detail": problem.detail,
        "request_id": request_id,
        **problem.members,
    }
