"""Links that go wrong on purpose: cut after the server acted, reset, silent, late and slow ones.

A proxy stands between people and their server. For each command that comes over a link it asks what
shall go wrong with it; most often nothing.
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

from leaseq.engine.script_table import SCRIPTS
from tests.support.relay import Relay, receive_from_both

_SHA = re.compile(rb"EVALSHA\r\n\$40\r\n([0-9a-f]{40})")
_SCRIPT_NAMES = {script.sha.encode(): name for name, script in SCRIPTS.items()}
_NO_SCRIPT = b"-NOSCRIPT"


@dataclass
class Link:
    """One client's, and ours to the server behind it."""

    client: socket.socket
    server: socket.socket

    def reset(self) -> None:
        """The client sees RST: what was on its way to them is gone."""
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.client.close()


class Trouble:
    """What happens to one command and its reply: nothing. False: the link ends here."""

    affects_reply: ClassVar = False  # it is met when a reply comes, and not with the command

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
    """RST when that share of the command is under way. The server throws away what it has of it."""

    share: float

    def forward_command(self, link: Link, data: bytes) -> bool:
        link.server.sendall(data[: int(len(data) * self.share)])
        link.reset()
        return False


@dataclass
class ResetInReply(Trouble):
    """RST when that share of the reply has arrived."""

    share: float
    affects_reply = True

    def forward_reply(self, link: Link, data: bytes) -> bool:
        link.client.sendall(data[: int(len(data) * self.share)])
        link.reset()
        return False


@dataclass
class Silent(Trouble):
    """Half open: the link takes all that comes and nothing ever comes back. The server may have acted."""

    acts: bool

    def forward_command(self, link: Link, data: bytes) -> bool:
        return not self.acts or super().forward_command(link, data)

    def forward_reply(self, link: Link, data: bytes) -> bool:
        return True


@dataclass
class Late(Trouble):
    """The command gets to the server only after its client has given up."""

    seconds: float  # after that

    def forward_command(self, link: Link, data: bytes) -> bool:
        with suppress(OSError):
            link.client.recv(1)
        time.sleep(self.seconds)
        link.server.sendall(data)
        link.server.recv(1)
        return False


class Dribble(Trouble):
    """A byte at a time, both ways."""

    def forward_command(self, link: Link, data: bytes) -> bool:
        return all(super(Dribble, self).forward_command(link, bytes([byte])) for byte in data)

    def forward_reply(self, link: Link, data: bytes) -> bool:
        return all(super(Dribble, self).forward_reply(link, bytes([byte])) for byte in data)


@dataclass
class Slow(Trouble):
    """The reply comes so many seconds later."""

    seconds: float

    def forward_reply(self, link: Link, data: bytes) -> bool:
        time.sleep(self.seconds)
        return super().forward_reply(link, data)


NO_TROUBLE = Trouble()


class Proxy(Relay):
    """Listens on a port of this machine, in front of a server's unix socket. ``choose`` is given the name of
    the script that a command runs, '' for any other, and says what goes wrong."""

    def __init__(self, server: str, choose: Callable[[str], Trouble]) -> None:
        listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        super().__init__(listener, server.removeprefix("unix://"))
        self._choose = choose
        self._lock = threading.Lock()  # the dice are one
        # By kind of trouble and script, where it came about.
        self.trouble_counts: Counter[tuple[str, str]] = Counter()
        self.script_counts: Counter[str] = Counter()  # by script
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
        script = _SCRIPT_NAMES.get(match[1], "") if match else ""  # a witness is of no verb
        with self._lock:
            trouble = self._choose(script)
            if trouble is not NO_TROUBLE and not trouble.affects_reply:
                self.trouble_counts[type(trouble).__name__, script] += 1
        return script, trouble

    def _count(self, script: str, trouble: Trouble, data: bytes) -> None:
        """Count what ran, and what befell its reply."""
        if data.startswith(_NO_SCRIPT):
            return
        with self._lock:
            self.script_counts[script] += 1
            if trouble.affects_reply:
                self.trouble_counts[type(trouble).__name__, script] += 1
