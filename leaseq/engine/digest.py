"""Digests of payloads: equal for equal JSON. For ``dedupe_seconds``, and to compare repeated items.

Two payloads are equal if they are the same JSON, whatever the order of keys and the notation of numbers
(``1``, ``1.0`` and ``1e0`` are the same number, as in JSON; ``true`` is not). Text is compared without
normalization.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b


def with_digests(rows: Sequence[str]) -> list[str]:
    """Rows of an enqueue (id, head, payload, …) with each payload's digest before its head."""
    new_rows = list(rows)
    for place in range(1, len(new_rows), 3):
        new_rows[place] = digest(new_rows[place + 1]) + new_rows[place]
    return new_rows


def digest(text: str) -> str:
    """The digest of a payload given as JSON: 32 hexadecimal digits."""
    value = json.loads(text, parse_float=_number)
    canonical = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return blake2b(canonical.encode(), digest_size=16).hexdigest()


def digest_of_rows(rows: Sequence[str]) -> str:
    """The digest of all rows of an enqueue (id, head, payload, …): 32 hexadecimal digits."""
    parts = [digest(part) if place % 3 == 2 else part for place, part in enumerate(rows)]
    return blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def _number(text: str) -> float | int:
    number = float(text)
    return int(number) if number.is_integer() else number
