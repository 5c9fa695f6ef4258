"""Links with planned faults: cut after the server acted, reset, silent, late or slow.

A proxy is between the people and their server. For each command on a link it chooses a fault; mostly none.
"""

from __future__ import annotations

import re
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from leaseq.engine.scripts import SCRIPTS
from tests.support.relay import Relay, receive_from_both

_SHA = re.compile(rb"EVALSHA\r\n\$40\r\n([0-9a-f]{40})")
_SCRIPT_NAMES = {script.sha.encode(): name for name, script in SCRIPTS.items()}
_NO_SCRIPT = b"-NOSCRIPT"


@dataclass
class Link:
    """A connection from a client, and the proxy's connection to the server."""

    client: socket.socket
    server: socket.socket

    def reset(self) -> None:
        """Send RST to the client: data on its way to them is lost."""
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.client.close()


class Trouble:
    """A fault of one command and its reply; this one is none. Methods return False if the link ends."""

    affects_reply: ClassVar = False  # whether it occurs at the reply instead of the command

    def forward_command(self, link: Link, data: bytes) -> bool:
        link.server.sendall(data)
        return True

    def forward_reply(self, link: Link, data: bytes) -> bool:
        link.client.sendall(data)
        return True


class Cut(Trouble):
    """The server acts, and its reply never arrives: the client sees a closed link."""

    affects_reply = True

    def forward_reply(self, link: Link, data: bytes) -> bool:
        return data.startswith(_NO_SCRIPT) and super().forward_reply(link, data)


@dataclass
class ResetInRequest(Trouble):
    """RST after this share of the command was sent. The server discards the incomplete command."""

    share: float

    def forward_command(self, link: Link, data: bytes) -> bool:
        link.server.sendall(data[: int(len(data) * self.share)])
        link.reset()
        return False


@dataclass
class ResetInReply(Trouble):
    """RST after this share of the reply has arrived."""

    share: float
    affects_reply = True

    def forward_reply(self, link: Link, data: bytes) -> bool:
        link.client.sendall(data[: int(len(data) * self.share)])
        link.reset()
        return False


@dataclass
class Silent(Trouble):
    """Half-open: the link accepts all data, and no reply ever comes. The server may have acted."""

    acts: bool

    def forward_command(self, link: Link, data: bytes) -> bool:
        return not self.acts or super().forward_command(link, data)

    def forward_reply(self, link: Link, data: bytes) -> bool:
        return True


@dataclass
class Late(Trouble):
    """The command reaches the server only after its client has given up."""

    seconds: float  # after the client gave up

    def forward_command(self, link: Link, data: bytes) -> bool:
        with suppress(OSError):
            link.client.recv(1)
        time.sleep(self.seconds)
        link.server.sendall(data)
        link.server.recv(1)
        return False


class Dribble(Trouble):
    """One byte at a time, in both directions."""

    def forward_command(self, link: Link, data: bytes) -> bool:
        return all(super(Dribble, self).forward_command(link, bytes([byte])) for byte in data)

    def forward_reply(self, link: Link, data: bytes) -> bool:
        return all(super(Dribble, self).forward_reply(link, bytes([byte])) for byte in data)


@dataclass
class Slow(Trouble):
    """The reply comes this many seconds later."""

    seconds: float

    def forward_reply(self, link: Link, data: bytes) -> bool:
        time.sleep(self.seconds)
        return super().forward_reply(link, data)


NO_TROUBLE = Trouble()


class Proxy(Relay):
    """Listens on a port of this machine, in front of a server's unix socket. ``choose`` gets the name of a
    command's script, or '' for other commands, and returns the fault."""

    def __init__(self, server: str, choose: Callable[[str], Trouble]) -> None:
        listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        super().__init__(listener, server.removeprefix("unix://"))
        self._choose = choose
        self._lock = threading.Lock()  # links share the dice
        # Faults that occurred, by kind and script.
        self.trouble_counts: Counter[tuple[str, str]] = Counter()
        self.script_counts: Counter[str] = Counter()  # calls by script
        self.url = f"redis://127.0.0.1:{listener.getsockname()[1]}/0"

    def count_of(self, kind: type[Trouble]) -> int:
        return sum(count for (name, _), count in self.trouble_counts.items() if name == kind.__name__)

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        link, script, trouble = Link(client, server), "", NO_TROUBLE
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for source, data in receive_from_both(client, server):
            if source is client:
                if data.startswith(b"*") and not isinstance(trouble, Silent):
                    script, trouble = self._choose_trouble(data)
                is_open = trouble.forward_command(link, data)
            else:
                is_open = trouble.forward_reply(link, data)
                self._count(script, trouble, data)
            if not is_open:
                return

    def _choose_trouble(self, data: bytes) -> tuple[str, Trouble]:
        match = _SHA.search(data)
        script = _SCRIPT_NAMES.get(match[1], "") if match else ""  # a server marker belongs to no verb
        with self._lock:
            trouble = self._choose(script)
            if trouble is not NO_TROUBLE and not trouble.affects_reply:
                self.trouble_counts[type(trouble).__name__, script] += 1
        return script, trouble

    def _count(self, script: str, trouble: Trouble, data: bytes) -> None:
        """Count a script that ran, and a fault of its reply."""
        if data.startswith(_NO_SCRIPT):
            return
        with self._lock:
            self.script_counts[script] += 1
            if trouble.affects_reply:
                self.trouble_counts[type(trouble).__name__, script] += 1
