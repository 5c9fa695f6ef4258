"""``Idempotency-Key``: a POST or PATCH repeated with the same key takes effect once, and gets the same
response.

The engine's own request id is derived from the key as well. So if a process dies after the change and before
its response is stored, the second request finds what the first one did.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from flask import Response, current_app, g, request

from leaseq import Invalid
from leaseq.webapp.context import person, state
from leaseq.webapp.serving.bodies import ObservedBody, strict_request
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.store.idempotency import InProgress, StoredResponse

HEADER = "Idempotency-Key"
KEYED_METHODS = frozenset({"POST", "PATCH"})  # PUT and DELETE are idempotent without a key
REPLAYED_HEADER = "Idempotency-Replayed"
MAX_KEY = 200
IN_ENVIRON = f"HTTP_{HEADER.upper().replace('-', '_')}"
NDJSON = "application/x-ndjson"
IMPORT = "api.import_rows"  # reads every media type row by row

_HEADERS = ("Content-Type", "Location", "Retry-After", "X-Leaseq-Reason")
_CHUNK = 65_536


def idempotency_key() -> str | None:
    """The request's key, or None if it has none."""
    key: str | None = strict_request().environ.get(IN_ENVIRON)
    if key is None:
        return None
    if not 1 <= len(key) <= MAX_KEY or not key.isprintable():
        raise Invalid(HEADER, "printable", minimum=1, maximum=MAX_KEY)
    return key


def request_id() -> str | None:
    """The library's request id for the key: of a fixed length, and specific to this person and call."""
    key = idempotency_key()
    return _hash(person().name, request.path, key) if key is not None else None


def derived_id(queue: str, key: str, number: int) -> str:
    """The id of the request's n-th new item: the same when the request is repeated."""
    return f"{_hash(person().name, queue, key)}-{number}"


def key_reused() -> Problem:
    return Problem.of(422, "key-reused", "key", what="reused", field=HEADER, header=HEADER)


def _hash(*parts: str) -> str:
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:32]


@dataclass(slots=True)
class _KeyedRequest:
    """The current request and its key."""

    person: str
    scope: str
    hash: Any = field(default_factory=hashlib.sha256)
    withheld: bool = False  # its response is not stored


def withhold_answer() -> None:
    """Don't store this request's response for repetitions: it contains a secret."""
    if "keyed" in g:
        g.keyed.withheld = True


def byte_lines() -> BinaryIO:
    """The body as a stream whose lines can be read fast; it is hashed while it is read."""
    if "keyed" not in g:
        return strict_request().byte_lines()
    return io.BufferedReader(ObservedBody(request.stream, g.keyed.hash.update), _CHUNK)


def begin() -> Response | None:
    """The stored response, if there is one; else let the request continue, as the only one with its
    key."""
    key = idempotency_key() if request.method in KEYED_METHODS else None
    if key is None:
        return None
    keyed = _KeyedRequest(person().name, _hash(request.path, key))
    keyed.hash.update(f"{request.mimetype}\0".encode())
    if not _streams():
        request.max_content_length = state().settings.max_body_bytes
        keyed.hash.update(request.get_data())
    body_hash = "" if _streams() else keyed.hash.hexdigest()
    record = state().idempotency.begin(keyed.person, keyed.scope, body_hash)
    if record is None:
        g.keyed = keyed
        return None
    if isinstance(record, StoredResponse) and _streams():
        while piece := request.stream.read(_CHUNK):
            keyed.hash.update(piece)
    if record.hash and record.hash != keyed.hash.hexdigest():
        raise key_reused()
    if isinstance(record, InProgress):
        problem = Problem.of(409, "in-progress", "key", what="in_progress", header=HEADER)
        problem.headers["Retry-After"] = "1"
        raise problem
    return _stored_response(record)


def _streams() -> bool:
    view = current_app.view_functions[request.endpoint or ""]
    of_lines = request.mimetype == NDJSON or request.endpoint == IMPORT
    return of_lines and getattr(view, "takes_any_size", False)


def _stored_response(answer: StoredResponse) -> Response:
    if answer.body is None:
        raise Problem.of(409, "answer-not-kept", "key", what="not_kept", header=HEADER, status=answer.status)
    response = Response(answer.body, answer.status)
    response.headers.pop("Content-Type", None)
    response.headers.update(answer.headers)
    response.headers[REPLAYED_HEADER] = "true"
    return response


def keep(response: Response) -> Response:
    """Store the response of the call that `begin` let continue, for repetitions."""
    keyed = g.keyed
    if response.status_code >= 300:  # a refused request changed nothing
        state().idempotency.drop(keyed.person, keyed.scope)
        return response
    headers = {name: response.headers[name] for name in _HEADERS if name in response.headers}
    body = None if keyed.withheld else response.get_data()
    answer = StoredResponse(keyed.hash.hexdigest(), response.status_code, headers, body)
    state().idempotency.keep(keyed.person, keyed.scope, answer)
    return response


def end() -> None:
    keyed = g.pop("keyed")
    state().idempotency.end(keyed.person, keyed.scope)
