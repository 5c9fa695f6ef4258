"""A proxy in front of a server that can cut it off from some peers, distinguished by their address."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

from tests.support.relay import Relay, receive_from_both

CLIENTS = "127.0.0.1"  # servers and sentinels connect from other loopback addresses


class Splitter(Relay):
    """After ``cut()``, nothing passes between the server and other servers, but no connection breaks."""

    def __init__(self, server: int) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        super().__init__(listener, server)
        self.port = int(listener.getsockname()[1])
        self._is_cut = threading.Event()
        self._links: set[socket.socket] = set()
        self._lock = threading.Lock()

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self.heal()

    def cut(self) -> None:
        self._is_cut.set()

    def heal(self) -> None:
        """Let data pass again. Data sent during the cut is lost, so the connections close, and both sides
        reconnect."""
        self._is_cut.clear()
        with self._lock:
            links = set(self._links)
        for link in links:
            with suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        if client.getpeername()[0] == CLIENTS:
            super()._carry(client, server)
            return
        with self._lock:
            self._links.add(client)
        try:
            self._carry_unless_cut(client, server)
        finally:
            with self._lock:
                self._links.discard(client)

    def _carry_unless_cut(self, peer: socket.socket, server: socket.socket) -> None:
        lossy = False
        for source, data in receive_from_both(peer, server):
            if self._is_cut.is_set():
                lossy = True
            elif lossy:  # healed, but earlier data is missing
                return
            else:
                (server if source is peer else peer).sendall(data)
