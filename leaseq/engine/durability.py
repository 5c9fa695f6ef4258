"""Durable acknowledgement: the WAIT or WAITAOF that follows a write, and whether a server supports it.

The wait is sent in the same packet as the write, on the same connection, since the server waits only for
writes on that connection. See ``docs/decisions/0006-durable.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from redis import exceptions as rx

from leaseq.engine.scripts import BoundScript, Words, message_of, pack
from leaseq.errors import Invalid, ServerRefused, ServerUnavailable
from leaseq.policy import Durable

_TRY_MILLISECONDS = 500  # the time limit of the server's confirmation in `check`
# Milliseconds. For fsync the wait is long, as there is no other disk. For replicas it is short, since a
# primary without a replica may have been replaced.
MAX_MILLISECONDS = {"fsync": 60_000, "replica": 1_000, "majority": 1_000}
_UNAVAILABLE_ERRORS = (rx.ReadOnlyError, rx.ClusterError, rx.AskError, rx.TryAgainError)
_UNAVAILABLE_CODES = ("UNBLOCKED", "NOREPLICAS", "BUSY")


class Wait(NamedTuple):
    """The wait for the confirmation of a write. ``mark`` is a script that always writes: a repeated call may
    change nothing, and on a connection that has written nothing, the wait would end immediately."""

    durable: Durable
    mark: BoundScript
    milliseconds: int
    quorum: int  # how many must confirm: for fsync the one disk, else this many replicas

    def packed_commands(self) -> tuple[bytes, bytes]:
        words = (*_command(self.durable, self.quorum), str(self.milliseconds))
        return pack((*self.mark.words, "")), pack(words)

    @property
    def values(self) -> dict[str, Any]:
        """The values of an error about the confirmation."""
        return {"what": self.durable, "quorum": self.quorum}


def _command(durable: Durable, quorum: int) -> tuple[str, ...]:
    return ("WAITAOF", "1", "0") if durable == "fsync" else ("WAIT", str(quorum))


def majority_of(replicas: int) -> int:
    """More than half, so that any two majorities have a member in common; 1 if there are no replicas yet."""
    return replicas // 2 + 1


def send(connection: Any, bound: BoundScript, args: Words, *, loading: bool) -> list[Any]:
    """Send a script call. With ``loading``, its script is loaded in the same packet, for a server that
    forgets scripts quickly."""
    _, reply = send_all(connection, _load(bound, loading), pack(bound.words + args))
    if isinstance(reply, Exception):
        raise reply
    reply_parts: list[Any] = reply
    return reply_parts


def exchange(
    connection: Any, bound: BoundScript, args: Words, wait: Wait, *, loading: bool = False
) -> list[Any]:
    """Send a move and its wait; return the move's reply once it is confirmed.

    Raises redis-py's exception if the move fails, and ServerUnavailable or ServerRefused if it was made but
    not confirmed.
    """
    commands = (_load(bound, loading), pack(bound.words + args), *wait.packed_commands())
    _, reply, mark_reply, wait_reply = send_all(connection, *commands)
    if isinstance(reply, Exception):
        raise reply
    if isinstance(mark_reply, rx.NoScriptError):
        load_reply, mark_reply, wait_reply = send_all(
            connection, _load(wait.mark, True), *wait.packed_commands()
        )
        if isinstance(mark_reply, rx.NoScriptError) and isinstance(load_reply, Exception):
            mark_reply = load_reply
    for error in (mark_reply, wait_reply):
        if isinstance(error, Exception):
            raise _unconfirmed_error(wait, error)
    if _count(wait_reply) < wait.quorum:
        raise ServerUnavailable("unconfirmed", **wait.values, seconds=wait.milliseconds / 1000, taken=True)
    reply_parts: list[Any] = reply
    return reply_parts


def _load(bound: BoundScript, loading: bool) -> bytes:
    return pack(("SCRIPT", "LOAD", bound.script.source)) if loading else b""


def send_all(connection: Any, *commands: bytes) -> list[Any]:
    """Send all commands in one packet, and read every reply. An error reply is returned, not raised, since
    others follow it. If a load fails, the replies after it show it."""
    connection.send_packed_command((b"".join(commands),), check_health=False)
    return [_read(connection) if command else None for command in commands]


def _unconfirmed_error(wait: Wait, error: Exception) -> ServerUnavailable | ServerRefused:
    message = message_of(error, wait.mark.script)
    if isinstance(error, _UNAVAILABLE_ERRORS) or str(error).startswith(_UNAVAILABLE_CODES):
        return ServerUnavailable("unconfirmed", **wait.values, why=message, taken=True)
    return ServerRefused("unconfirmed", **wait.values, why=message)


def _read(connection: Any) -> Any:
    """Read a reply, or return the server's error as a value, so that the replies after it are always read."""
    try:
        return connection.read_response()
    except rx.ResponseError as error:
        return error


def _count(reply: Any) -> int:
    return int(reply[0] if isinstance(reply, list) else reply)


def check(durable: Durable, ask: Callable[..., Any], replicas: Callable[[], Any]) -> None:
    """Raise Invalid if a server does not support ``durable``. ``ask`` sends it a command, ``replicas`` counts
    its replicas."""
    if durable == "fsync":
        _check_fsync(ask)
    elif durable == "replica" and not _count_confirmations(durable, 1, ask):
        raise Invalid("durable", "durable", what="replica")
    elif durable == "majority":
        _check_majority(ask, replicas)


def _check_majority(ask: Callable[..., Any], replicas: Callable[[], Any]) -> None:
    try:
        count = replicas()
    except ServerRefused as error:
        raise Invalid("durable", "durable", what="count", why=str(error)) from error
    quorum = majority_of(count)
    confirmations = _count_confirmations("majority", quorum, ask)
    if confirmations < quorum:
        raise Invalid(
            "durable", "durable", what="majority", quorum=quorum, count=count, confirmations=confirmations
        )


def check_fsync_again(ask: Callable[..., Any]) -> bool:
    """Raise ServerRefused if a server that was checked for ``fsync`` now confirms too early. Returns False if
    the setting can't be read; then it need not be tried again."""
    config = _configuration(ask)
    fsync = config.get("appendfsync")
    if fsync not in (None, "always"):
        raise ServerRefused("durable", what="appendfsync_now", fsync=fsync)
    return fsync is not None


def _check_fsync(ask: Callable[..., Any]) -> None:
    config = _configuration(ask)
    if config.get("appendonly") == "no":
        raise Invalid("durable", "durable", what="file")
    fsync = config.get("appendfsync")
    if fsync not in (None, "always"):
        raise Invalid("durable", "durable", what="appendfsync", fsync=fsync)
    confirmations = _count_confirmations("fsync", 1, ask)
    if fsync is None and _is_valkey(ask):  # with everysec it confirms too early, so confirming proves nothing
        raise Invalid("durable", "durable", what="config")
    if not confirmations:
        raise Invalid("durable", "durable", what="disk", milliseconds=_TRY_MILLISECONDS)


def _configuration(ask: Callable[..., Any]) -> dict[str, str]:
    """The options in CONFIG; empty if the user may not read them, as on many managed servers."""
    try:
        config: dict[str, str] = ask("CONFIG GET", "append*")
    except rx.ResponseError:
        return {}
    return config


def _is_valkey(ask: Callable[..., Any]) -> bool:
    """Whether this is Valkey, or may be, if the name can't be read."""
    try:
        return b"valkey" in ask("HELLO")
    except rx.ResponseError:
        return True


def _count_confirmations(durable: Durable, quorum: int, ask: Callable[..., Any]) -> int:
    """The number of confirmations. Raises Invalid if WAIT or WAITAOF itself does not work."""
    words = _command(durable, quorum)
    try:
        return _count(ask(*words, str(_TRY_MILLISECONDS)))
    except rx.ResponseError as error:
        message = str(error).lower()
        if "appendonly" in message:
            raise Invalid("durable", "durable", what="file") from error
        command = words[0]
        if isinstance(error, rx.NoPermissionError):
            raise Invalid(
                "durable", "durable", what="permission", durable=durable, command=command
            ) from error
        raise Invalid(
            "durable", "durable", what="command", durable=durable, command=command, why=str(error)
        ) from error
