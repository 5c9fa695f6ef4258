"""A proxy between clients and a server that may change what they send to each other."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Self


class Relay:
    """Accepts clients at ``listener``, and serves each in its own thread. ``server`` is the path of a
    unix socket, or a port of this machine."""

    def __init__(self, listener: socket.socket, server: str | int) -> None:
        self._listener = listener
        self._server = server

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client, self._connect() as server:
            self._carry(client, server)

    def _connect(self) -> socket.socket:
        if isinstance(self._server, int):
            return socket.create_connection(("127.0.0.1", self._server))
        server = socket.socket(socket.AF_UNIX)
        server.connect(self._server)
        return server

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        """Pass data between the two; the connection is closed when this returns."""
        for source, data in receive_from_both(client, server):
            (server if source is client else client).sendall(data)


def receive_from_both(client: socket.socket, server: socket.socket) -> Iterator[tuple[socket.socket, bytes]]:
    """Yield what either of them sends, as it arrives, until one of them closes."""
    while True:
        ready, _, _ = select.select([client, server], [], [])
        for source in ready:
            data = source.recv(1 << 20)
            if not data:
                return
            yield source, data
