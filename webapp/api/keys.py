"""``Idempotency-Key``: a POST that is sent again with the same key acts once."""

from __future__ import annotations

import hashlib

from flask import request

from leaseq import Invalid
from webapp.state import person

HEADER = "Idempotency-Key"
MAX_KEY = 200


def idempotency_key() -> str | None:
    """The request's key, or None where it has none."""
    key = request.headers.get(HEADER)
    if key is None:
        return None
    if not 1 <= len(key) <= MAX_KEY or not key.isprintable():
        raise Invalid(HEADER, f"1 to {MAX_KEY} printable characters")
    return key


def request_id() -> str | None:
    """The key as the library takes a request id: of a bounded length, and this person's own."""
    key = idempotency_key()
    return _hashed(person().name, key) if key is not None else None


def derived_id(queue: str, key: str, number: int) -> str:
    """The id of the request's n-th new item: the same when the request comes again."""
    return f"{_hashed(person().name, queue, key)}-{number}"


def _hashed(*parts: str) -> str:
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:32]
