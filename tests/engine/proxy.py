"""Links that deliberately break after the server has acted (a lost reply), or fall silent."""

from __future__ import annotations

import socket
from collections import Counter
from pathlib import Path

from leaseq.engine.scripts import SCRIPTS
from tests.support.relay import Relay, receive_from_both


class CuttingProxy(Relay):
    """Forwards everything between clients and a server's unix socket. After ``cut(script)``, the next reply
    to that script never arrives: the client sees a closed connection, although the script has run."""

    def __init__(self, server: str, folder: Path) -> None:
        user, _, behind = server.removeprefix("unix://").rpartition("@")
        path = f"{folder}/proxy.sock"
        self.url = f"unix://{user}@{path}" if user else f"unix://{path}"
        self.cuts = 0
        self._script: bytes | None = None
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()
        super().__init__(listener, behind)

    def cut(self, script: str) -> None:
        self._script = SCRIPTS[script].sha.encode()

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        command = b""
        for source, data in receive_from_both(client, server):
            if source is client:
                command = data if data.startswith(b"*") else command
                server.sendall(data)
            elif not self._answer(client, command, data):
                return

    def _answer(self, client: socket.socket, command: bytes, data: bytes) -> bool:
        """Forward the server's reply to this command. Return False to break the link instead."""
        if self._script and self._script in command and not data.startswith(b"-NOSCRIPT"):
            self._script = None
            self.cuts += 1
            return False
        client.sendall(data)
        return True


class SilentProxy(CuttingProxy):
    """After ``fall_silent()``, nothing arrives over the links that are listening at that time, but none
    breaks."""

    def __init__(self, server: str, folder: Path) -> None:
        super().__init__(server, folder)
        self.listening: set[socket.socket] = set()
        self._silent: set[socket.socket] = set()
        self.pongs = Counter[socket.socket]()  # by listening link

    def fall_silent(self) -> None:
        self._silent, self.listening = self.listening, set()
        self.pongs.clear()

    def _answer(self, client: socket.socket, command: bytes, data: bytes) -> bool:
        if client in self._silent:
            return True
        if b"SUBSCRIBE" in command:
            self.listening.add(client)
        self.pongs[client] += client in self.listening and b"PING" in command
        return super()._answer(client, command, data)
