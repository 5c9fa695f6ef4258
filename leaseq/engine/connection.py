"""The connection of a client, and the transport of a closed one."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha1
from typing import Any, NamedTuple, NoReturn, cast

from redis import exceptions as rx
from redis.exceptions import NoScriptError

from leaseq.engine.durability import Wait
from leaseq.engine.notifications import Listener, Waiters
from leaseq.engine.replies import Reply
from leaseq.engine.scripts import BoundScript, Script, Words, message_of
from leaseq.engine.transport import FAILURES, Command, Transport, transport_of
from leaseq.engine.urls import without_password
from leaseq.errors import Invalid, QueueUnreadable, ServerRefused, ServerUnavailable
from leaseq.models import Json
from leaseq.policy import Durable


def refuse() -> NoReturn:
    """Raise the error of every call on a closed client."""
    raise Invalid("client", "closed")


class ClosedTransport:
    """The transport of a closed client, so that an open client needs no check. Only waits that
    the close ended can still use it, to leave the queue's waiting list."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def send(self, bound: BoundScript, *args: Any, **options: Any) -> Any:
        if bound.script.name != "end_wait":
            refuse()
        return self._transport.send(bound, *args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name) if name in _OPEN_METHODS else refuse()


# The transport's methods that such a wait, or a second `close`, uses.
_OPEN_METHODS = ("load", "reset", "drop_idle", "close")


_UNAVAILABLE_ERRORS = (
    rx.ConnectionError,
    rx.TimeoutError,
    rx.ClusterError,  # CLUSTERDOWN and MASTERDOWN, and if redis-py gives up on a slot that is moved
    rx.AskError,  # a slot that is being migrated to another node; and its subclass MovedError
    rx.TryAgainError,
    rx.RedisClusterException,
    OSError,
)
_UNAVAILABLE_CODES = ("BUSY", "NOSCRIPT", "LOADING", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "NOREPLICAS")
_MAX_LOADS = 20  # loads of one script for one call
# After these, a new connection may lead to a server that answers.
_BROKEN_CONNECTION_ERRORS = (rx.ConnectionError, rx.ReadOnlyError, rx.MovedError)


class Translator:
    """The translation of redis-py's exceptions, and of the use of a closed client."""

    _url: str
    listener: Waiters

    def check_open(self) -> None:
        """Raise Invalid if the client is closed. Calls to the server do so themselves."""
        if self.listener.closed:
            refuse()

    @contextmanager
    def translating(self, script: Script | None = None) -> Iterator[None]:
        """Translate redis-py's exceptions to ServerUnavailable or ServerRefused. ``script``: the one run."""
        try:
            yield
        except FAILURES as error:
            self._translate(error, script)

    def _translate(self, error: Exception, script: Script | None = None) -> NoReturn:
        if isinstance(error, (rx.AuthenticationError, rx.AuthorizationError)):
            raise ServerRefused("server_refused", what="password", why=str(error)) from error
        message = message_of(error, script)
        if isinstance(error, _UNAVAILABLE_ERRORS) or str(error).startswith(_UNAVAILABLE_CODES):
            address = without_password(self._url)
            raise ServerUnavailable("no_answer", what="server", address=address, why=message) from error
        match message.split():
            case ["NEWER", part, name]:  # from lua/lib/queue.lua
                raise QueueUnreadable("newer", what=part, name=name) from error
            case ["RESTORING"]:  # from lua/configure.lua
                raise ServerRefused("restoring") from error
        raise ServerRefused("server_refused", what="error", why=message) from error


class CachedPolicy(NamedTuple):
    """What every call needs to know of a queue's policy, as last read."""

    durable: Durable = "server"
    form_version: str = "-"
    until: float = 0.0  # read again after this time, by `monotonic`


class Connection(Translator):
    """The internals of a `Client`: its connections, and its cache of facts about the server's queues."""

    def __init__(self, url: str, client: Any) -> None:
        self._url = url
        self._transport: Transport = transport_of(client)
        self.listener: Listener = Listener(client)
        self.names: set[str] = set()  # names of queues that existed; see `queues`
        self.policies: dict[str, CachedPolicy] = {}  # by ledger
        self.forms: dict[str, tuple[str, Json]] = {}  # by ledger: version and form, as last read
        self.disks: dict[str, float] = {}  # by ledger: until when the checked fsync setting is valid
        self.majorities: dict[str, tuple[int, float]] = {}  # by ledger: the replicas, cached until a time
        self.markers: list[str] = []  # the texts of the loaded server markers, each in a different server
        self.wait_milliseconds = int(self._transport.timeout * 800)  # shorter than the transport's timeout

    def close(self) -> None:
        self.listener.end()
        self._transport = cast("Transport", ClosedTransport(self._transport))
        with self.translating():
            self._transport.drop_idle()
            self._transport.close()

    def drop_idle_connections(self) -> None:
        """Close the idle connections, also after ``close``; other threads may be in the middle of a call."""
        with self.translating():
            self._transport.drop_idle()

    def run_script(self, bound: BoundScript, args: Words, wait: Wait | None = None) -> Reply:
        """Run a script. Load it if the server doesn't have it; send it again if the reply was lost. With
        ``wait``, return only after the confirmation."""
        transport = self._transport  # a call that began before the client was closed is completed
        try:
            reply = transport.send(bound, args, wait)
        except FAILURES as error:
            return self._retry(transport, bound, args, wait, error)
        return Reply(reply[0], reply[1:], False)

    def _retry(
        self,
        transport: Transport,
        bound: BoundScript,
        args: Words,
        wait: Wait | None,
        error: Exception,
    ) -> Reply:
        """Load the script if the server doesn't have it, and send it once more after a broken connection, in
        whichever order these happen. A new connection may lead to another server, and a server may forget its
        scripts between a load and the call: after the first try, both are sent in one packet."""
        loads, resent = 0, False
        while True:
            try:
                if isinstance(error, rx.NoScriptError) and loads < _MAX_LOADS:
                    loads += 1
                    if loads == 1:
                        self._load(transport, bound)
                elif _is_broken_connection(error) and not resent:
                    resent = True
                    transport.reset()
                else:
                    self._translate(error, bound.script)
                reply = transport.send(bound, args, wait, loading=loads > 1)
            except FAILURES as next_error:
                error = next_error
            else:
                return Reply(reply[0], reply[1:], resent)

    def ask(self, key: str, *words: str) -> Any:
        """Send a command to the server that has this key, and once more if the connection breaks. An error
        reply is raised as redis-py's ResponseError."""
        try:
            try:
                return self._transport.ask(key, *words)
            except _BROKEN_CONNECTION_ERRORS:
                self._transport.reset()
                return self._transport.ask(key, *words)
        except rx.ResponseError:
            raise
        except FAILURES as error:
            self._translate(error)

    def scan(self, key: str, cursor: int, pattern: str, count: int) -> tuple[int, list[bytes]]:
        """One step of a scan of the keys in the server that has this key: returns the cursor of the next step
        (0: none), and the keys that match."""
        with self.translating():
            try:
                next_cursor, names = self._transport.scan(key, cursor, pattern, count)
            except _BROKEN_CONNECTION_ERRORS:
                self._transport.reset()
                next_cursor, names = self._transport.scan(key, cursor, pattern, count)
        return int(next_cursor), names

    def ask_all(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands in one packet, and once more if the connection breaks."""
        with self.translating():
            try:
                return self._replies(commands)
            except _BROKEN_CONNECTION_ERRORS:
                self._transport.reset()
                return self._replies(commands)

    def _replies(self, commands: Sequence[Command]) -> list[Any]:
        """The replies. Raises the first error; a cluster's pipeline returns broken connections as replies."""
        replies = self._transport.ask_all(commands)
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return replies

    def replicas(self, key: str) -> int:
        """The number of replicas of the server that has this key."""
        with self.translating():
            return self._transport.replicas(key)

    def _load(self, transport: Transport, bound: BoundScript) -> None:
        """Load the script in a separate call, since a reply lost here is not a lost reply of the call."""
        with self.translating(bound.script):
            try:
                transport.load(bound)
            except _BROKEN_CONNECTION_ERRORS:
                transport.reset()
                transport.load(bound)


def _is_broken_connection(error: Exception) -> bool:
    is_broken = isinstance(error, _BROKEN_CONNECTION_ERRORS) or str(error).startswith("NOREPLICAS")
    return is_broken and not isinstance(error, rx.AuthenticationError)


class ServerMarker:
    """A script that returns ``text``. It is loaded, before a scan, into the server that has ``key``."""

    def __init__(self, connection: Connection, key: str, text: str = "") -> None:
        self._connection, self._key = connection, key
        self.text = text

    def load(self) -> None:
        for text in reversed(self._connection.markers):
            if self._is_loaded(text):
                self.text = text
                return
        self.text = secrets.token_hex(8)
        with self._connection.translating():
            self._connection.ask(self._key, "SCRIPT", "LOAD", _script(self.text))
        self._connection.markers.append(self.text)

    def is_present(self) -> bool:
        """Whether the key is still in the same server process as at `load`."""
        return self._is_loaded(self.text)

    def _is_loaded(self, text: str) -> bool:
        sha = sha1(_script(text).encode(), usedforsecurity=False).hexdigest()
        with self._connection.translating():
            try:
                self._connection.ask(self._key, "EVALSHA", sha, "1", self._key)
            except NoScriptError:
                return False
        return True


def _script(text: str) -> str:
    return f"return '{text}'"
