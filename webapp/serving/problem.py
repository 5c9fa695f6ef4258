"""An error of the web app as a value, and as the JSON that programs read (RFC 9457)."""

from __future__ import annotations

from typing import Any


class Problem(Exception):
    """An answer that is an error: its status, its stable code, what is true, and members of its own."""

    def __init__(self, status: int, code: str, detail: str, **members: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.members = members
        self.headers: dict[str, str] = {}


TITLES: dict[str, str] = {
    "invalid": "That was not accepted",
    "unauthorized": "Sign in first",
    "forbidden": "You may not do this",
    "not-found": "There is nothing here",
    "method-not-allowed": "That is not done here",
    "not-acceptable": "There is no such kind of answer",
    "request-timeout": "The request took too long to arrive",
    "conflict": "The id is taken",
    "lease-lost": "The lease is not yours any more",
    "in-progress": "The first of these is not answered yet",
    "answer-not-kept": "That was done",
    "key-reused": "This key belongs to another request",
    "policy-changed": "Somebody else changed it meanwhile",
    "queue-exists": "There is a queue of this name already",
    "too-large": "That is too large",
    "unsupported-media-type": "That kind of content is not taken here",
    "form": "The result does not fit the form",
    "too-many-requests": "That was too often",
    "server-unavailable": "The queue server can't be reached",
    "server-refused": "The queue server refused",
    "internal": "Something went wrong",
}


def body_of(problem: Problem, request_id: str | None) -> dict[str, Any]:
    return {
        "type": "about:blank",
        "title": TITLES.get(problem.code, "That did not work"),
        "status": problem.status,
        "code": problem.code,
        "detail": problem.detail,
        "request_id": request_id,
        **problem.members,
    }
