"""The middleware for slow clients: request bodies and responses."""

from __future__ import annotations

import io
from typing import Any

import pytest
from gevent.socket import socketpair

from leaseq.webapp.serving.capacity import WRITE, SlowClients
from leaseq.webapp.serving.middleware import HOLDS_SLOT, RequestSlots


def call(app: Any, slots: RequestSlots, body: bytes = b"", *, holds_slot: bool = False) -> Any:
    server_socket, client_socket = socketpair()
    with server_socket, client_socket:
        environ = {"gunicorn.socket": server_socket, "wsgi.input": io.BytesIO(body), HOLDS_SLOT: holds_slot}
        return SlowClients(app, slots)(environ, lambda *_: None)  # type: ignore[arg-type]


def test_long_response_is_written_in_pieces() -> None:
    """The limit applies to a whole write: a slow but steady reader receives each piece in time."""
    parts = [b"short", b"x" * (2 * WRITE + 1), b""]
    pieces = list(call(lambda *_: parts, RequestSlots(1)))
    assert b"".join(pieces) == b"".join(parts)
    assert max(map(len, pieces)) == WRITE


def test_response_body_is_closed() -> None:
    closes = []

    class Body(list[bytes]):
        def close(self) -> None:
            closes.append(True)

    call(lambda *_: Body([b"one"]), RequestSlots(1)).close()
    assert closes == [True]


@pytest.mark.parametrize("holds_slot", [True, False])
def test_reading_body_keeps_number_of_free_slots(holds_slot: bool) -> None:
    """A request that holds no slot must not release one."""
    slots, bodies = RequestSlots(2), []
    slots.acquire()

    def app(environ: Any, _start: Any) -> list[bytes]:
        bodies.append(environ["wsgi.input"].read())
        return []

    call(app, slots, b"x" * 40_000, holds_slot=holds_slot)
    assert bodies == [b"x" * 40_000]
    assert slots._free_count == 1
