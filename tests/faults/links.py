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
from tests.support.relay import Relay, heard

_SHA = re.compile(rb"EVALSHA\r\n\$40\r\n([0-9a-f]{40})")
_NAMES = {script.sha.encode(): name for name, script in SCRIPTS.items()}
_NOT_RUN = b"-NOSCRIPT"


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

    of_the_reply: ClassVar = False  # it is met when a reply comes, and not with the command

    def ask(self, link: Link, data: bytes) -> bool:
        link.server.sendall(data)
        return True

    def answer(self, link: Link, data: bytes) -> bool:
        link.client.sendall(data)
        return True


class Cut(Trouble):
    """The server acts, and its reply never arrives: the client sees a closed link."""

    of_the_reply = True

    def answer(self, link: Link, data: bytes) -> bool:
        return data.startswith(_NOT_RUN) and super().answer(link, data)


@dataclass
class ResetInRequest(Trouble):
    """RST when that share of the command is under way. The server throws away what it has of it."""

    share: float

    def ask(self, link: Link, data: bytes) -> bool:
        link.server.sendall(data[: int(len(data) * self.share)])
        link.reset()
        return False


@dataclass
class ResetInReply(Trouble):
    """RST when that share of the reply has arrived."""

    share: float
    of_the_reply = True

    def answer(self, link: Link, data: bytes) -> bool:
        link.client.sendall(data[: int(len(data) * self.share)])
        link.reset()
        return False


@dataclass
class Silent(Trouble):
    """Half open: the link takes all that comes and nothing ever comes back. The server may have acted."""

    acts: bool

    def ask(self, link: Link, data: bytes) -> bool:
        return not self.acts or super().ask(link, data)

    def answer(self, link: Link, data: bytes) -> bool:
        return True


@dataclass
class Late(Trouble):
    """The command gets to the server only after its client has given up."""

    seconds: float  # after that

    def ask(self, link: Link, data: bytes) -> bool:
        with suppress(OSError):
            link.client.recv(1)
        time.sleep(self.seconds)
        link.server.sendall(data)
        link.server.recv(1)
        return False


class Dribble(Trouble):
    """A byte at a time, both ways."""

    def ask(self, link: Link, data: bytes) -> bool:
        return all(super(Dribble, self).ask(link, bytes([byte])) for byte in data)

    def answer(self, link: Link, data: bytes) -> bool:
        return all(super(Dribble, self).answer(link, bytes([byte])) for byte in data)


@dataclass
class Slow(Trouble):
    """The reply comes so many seconds later."""

    seconds: float

    def answer(self, link: Link, data: bytes) -> bool:
        time.sleep(self.seconds)
        return super().answer(link, data)


NOTHING = Trouble()


class Proxy(Relay):
    """Listens on a port of this machine, in front of a server's unix socket. ``choose`` is given the name of
    the script that a command runs, '' for any other, and says what goes wrong."""

    def __init__(self, server: str, choose: Callable[[str], Trouble]) -> None:
        listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        super().__init__(listener, server.removeprefix("unix://"))
        self._choose = choose
        self._lock = threading.Lock()  # the dice are one
        self.met: Counter[tuple[str, str]] = Counter()  # by kind of trouble and script, where it came about
        self.ran: Counter[str] = Counter()  # by script
        self.url = f"redis://127.0.0.1:{listener.getsockname()[1]}/0"

    def times(self, kind: type[Trouble]) -> int:
        return sum(count for (name, _), count in self.met.items() if name == kind.__name__)

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        link, script, trouble = Link(client, server), "", NOTHING
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for source, data in heard(client, server):
            if source is client:
                if data.startswith(b"*") and not isinstance(trouble, Silent):
                    script, trouble = self._meet(data)
                goes_on = trouble.ask(link, data)
            else:
                goes_on = trouble.answer(link, data)
                self._note(script, trouble, data)
            if not goes_on:
                return

    def _meet(self, data: bytes) -> tuple[str, Trouble]:
        match = _SHA.search(data)
        script = _NAMES.get(match[1], "") if match else ""  # a witness is of no verb
        with self._lock:
            trouble = self._choose(script)
            if trouble is not NOTHING and not trouble.of_the_reply:
                self.met[type(trouble).__name__, script] += 1
        return script, trouble

    def _note(self, script: str, trouble: Trouble, data: bytes) -> None:
        """Count what ran, and what befell its reply."""
        if data.startswith(_NOT_RUN):
            return
        with self._lock:
            self.ran[script] += 1
            if trouble.of_the_reply:
                self.met[type(trouble).__name__, script] += 1
