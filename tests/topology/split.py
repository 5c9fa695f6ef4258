"""A proxy before a server that tells its peers apart by their address, and cuts it off from some of them."""

from __future__ import annotations

import select
import socket
import threading
from contextlib import suppress
from typing import Self

CLIENTS = "127.0.0.1"  # servers and sentinels come from others of loopback's addresses


class Splitter:
    """Once ``cut()``, nothing passes between the server and whoever is no client, though no link breaks."""

    def __init__(self, server: int) -> None:
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._is_cut = threading.Event()
        self._links: set[socket.socket] = set()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.heal()

    def cut(self) -> None:
        self._is_cut.set()

    def heal(self) -> None:
        """What was said meanwhile is lost, and so are the links: both sides begin anew."""
        self._is_cut.clear()
        with self._lock:
            silent = set(self._links)
        for link in silent:
            with suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                peer, (address, _) = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(peer, address), daemon=True).start()

    def _serve(self, peer: socket.socket, address: str) -> None:
        with peer, socket.socket() as server:
            if address != CLIENTS:
                with self._lock:
                    self._links.add(peer)
            with suppress(OSError):
                server.connect(("127.0.0.1", self._server))
                self._pass_on(peer, server, address)
            with self._lock:
                self._links.discard(peer)

    def _pass_on(self, peer: socket.socket, server: socket.socket, address: str) -> None:
        lossy = False
        while True:
            ready, _, _ = select.select([peer, server], [], [])
            for source in ready:
                data = source.recv(1 << 16)
                if not data:
                    return
                if address != CLIENTS and self._is_cut.is_set():
                    lossy = True
                elif lossy:  # healed, and what came before is missing
                    return
                else:
                    (server if source is peer else peer).sendall(data)
