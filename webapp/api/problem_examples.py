"""One example of each problem, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from leaseq.webapp.serving.problem import Problem, body_of

_PROBLEMS = (
    Problem(400, "invalid", "wait: a number from 0 to 30", field="wait", limit="0 to 30"),
    Problem(401, "unauthorized", "send a token as `Authorization: Bearer ...`, or sign in"),
    Problem(403, "forbidden", "this requires the role manager; yours is worker: ask an admin"),
    Problem(404, "not-found", "there is no queue 'reviews', or you have no access to it"),
    Problem(405, "method-not-allowed", "this path allows GET, HEAD, OPTIONS, not POST"),
    Problem(
        406, "not-acceptable", "this call returns application/json, which the Accept header does not accept"
    ),
    Problem(
        409,
        "lease-lost",
        "this lease of item 'r-1' is over: somebody else is on it now",
        id="r-1",
        state="reserved",
        answer_kept=True,
    ),
    Problem(
        409,
        "in-progress",
        "Idempotency-Key: the first request with this key is still being processed: send it again in 1 s",
    ),
    Problem(
        409,
        "conflict",
        "there is already an item with the id 'r-1' and a different payload, and nothing was changed",
        id="r-1",
    ),
    Problem(
        409,
        "item-finished",
        "item 'r-1' of queue 'reviews' has 1 answer, and was not removed",
        id="r-1",
        state="finished",
    ),
    Problem(
        409,
        "answer-not-kept",
        "the first request with this key succeeded; its answer was too large to be kept",
    ),
    Problem(
        412,
        "policy-changed",
        "the policy of queue 'reviews' is not the one that If-Match names, and nothing changed: GET the "
        "queue, and send the ETag that it has now",
    ),
    Problem(412, "queue-exists", "there is already a queue 'reviews'; it was not changed"),
    Problem(
        413,
        "too-large",
        "body: at most 8,388,608 bytes (LEASEQ_MAX_BODY_BYTES): send several requests; items as "
        "application/x-ndjson may be of any size",
        field="body",
        limit="at most 8,388,608 bytes (LEASEQ_MAX_BODY_BYTES)",
    ),
    Problem(415, "unsupported-media-type", "send the body as application/json"),
    Problem(
        422,
        "form",
        "the result does not fit the queue's form: stars: 9 is greater than the maximum of 5",
        errors={"stars": "9 is greater than the maximum of 5"},
    ),
    Problem(
        422,
        "key-reused",
        "Idempotency-Key: this key was used for another body. Send that body again, or use a new key",
        field="Idempotency-Key",
        limit="a new key for each body",
    ),
    Problem(
        429,
        "too-many-requests",
        "you have 4 waits open, as many as one person may have: close one",
    ),
    Problem(500, "internal", "the error was logged; the request may or may not have taken effect"),
    Problem(
        503,
        "server-unavailable",
        "the queue server does not answer: try again in a few seconds",
    ),
    Problem(503, "server-refused", "the server refused: out of memory"),
    Problem(
        503,
        "queue-unreadable",
        "this queue has schema 3, which this version of leaseq does not know: it changed nothing. "
        "Use a newer version of leaseq",
    ),
)


def problems() -> dict[str, Any]:
    """All examples, by code."""
    return {one.code: {"value": body_of(one, "0f3a9c51")} for one in _PROBLEMS}


def codes(status: str) -> list[str]:
    """The codes that a problem of this status may have."""
    like = "413" if status == "414" else status  # both are too large
    return [one.code for one in _PROBLEMS if str(one.status) == like]
