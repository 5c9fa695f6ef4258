"""JSON arrays: split into their elements while they are read, in bounded memory."""

from __future__ import annotations

import io
import json
import tracemalloc

import pytest

from leaseq import transfer
from leaseq.transfer.arrays import CHUNK
from leaseq.transfer.encodings import MAX_ROW_BYTES
from tests.support.refused import refused
from tests.transfer.reads import bad_rows, payloads, read


def test_array_is_split_equally_for_any_chunk_size(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [{"a": 'x]},"\\'}, [1, [2, "["]], "", "\\\\", 3.5, None, {"b": {"c": "\u20ac{"}}]
    data = json.dumps(values, indent=1, ensure_ascii=False).encode()
    for size in range(1, 20):
        monkeypatch.setattr("leaseq.transfer.arrays.CHUNK", size)
        assert payloads(read(data, "json")) == values


@pytest.mark.parametrize("before", [b"", b" ", b"  "])
def test_too_long_text_with_escaped_quotes_is_skipped(before: bytes) -> None:
    # In one of the three cases, a backslash is the last byte before the beginning of the text is discarded.
    text = before + b'\\"]' * (MAX_ROW_BYTES // 2)
    rows = read(b'["' + text + b'",\n1]', "json")
    assert bad_rows(rows) == [(1, "expected a row of at most 2,097,152 bytes, got more")]
    assert payloads(rows) == [1]


@pytest.mark.parametrize("spaces", [0, CHUNK - 1])
def test_text_of_maximum_row_size_is_a_row_for_any_chunk_boundary(spaces: int) -> None:
    """With the spaces, the text begins at the start of one read and ends in another."""
    longest_text = b'"' + b"x" * (MAX_ROW_BYTES - 2) + b'"'
    next_text = "y" * (2 * CHUNK)
    rows = read(b"[" + b" " * spaces + longest_text + b',\n"' + next_text.encode() + b'"]', "json")
    assert bad_rows(rows) == [(1, "payload: expected at most 262,144 bytes of JSON, got 2,097,152")]
    assert payloads(rows) == [next_text]


@pytest.mark.parametrize("spaces", [0, CHUNK - 1])
def test_text_of_one_byte_more_than_a_row_may_have_is_refused(spaces: int) -> None:
    long_text = b'"' + b"x" * (MAX_ROW_BYTES - 1) + b'"'
    rows = read(b"[" + b" " * spaces + long_text + b"]", "json")
    assert bad_rows(rows) == [(1, "expected a row of at most 2,097,152 bytes, got more")]


def test_too_long_text_is_not_held_in_memory() -> None:
    class Endless(io.BytesIO):
        """A single JSON text in an array, generated while it is read."""

        remaining = 12 * MAX_ROW_BYTES

        def read(self, size: int | None = -1) -> bytes:
            assert size is not None
            if self.remaining == 12 * MAX_ROW_BYTES:
                self.remaining -= 1
                return b'["'
            data = b"x" * min(size, self.remaining)
            self.remaining -= len(data)
            return data or super().read(size)

        read1 = read

    tracemalloc.start()
    try:
        rows = list(transfer.read(Endless(b'",\n1]'), "json"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert bad_rows(rows) == [(1, "expected a row of at most 2,097,152 bytes, got more")]
    assert payloads(rows) == [1]
    assert peak < 6 * MAX_ROW_BYTES


def test_value_of_array_is_refused_by_its_place() -> None:
    values = transfer.array_values(io.BytesIO(b'[1, {"a":}]'), "body")
    assert next(values) == 1
    with refused("json", "body.1", what="syntax"):
        next(values)
