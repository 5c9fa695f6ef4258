"""Durable acknowledgement: the WAIT or WAITAOF that follows a write, and whether a server supports it.

The wait is sent in the same packet as the write, on the same connection, since the server waits only for
writes on that connection. See ``docs/decisions/0006-durable.md``.

Made of leaseq/engine/durability.py by ``python -m tests.meta.asynchronous``; not to be edited.
"""
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from redis import exceptions as rx

from leaseq.engine.durability import (
    _TRY_MILLISECONDS,
    Wait,
    _command,
    _count,
    _load,
    _no_file,
    _unconfirmed_error,
    _unsupported,
    majority_of,
)
from leaseq.engine.scripts import BoundScript, pack
from leaseq.errors import ServerRefused, ServerUnavailable
from leaseq.policy import Durable


class ServerQueries(Protocol):
    """The two queries that are sent to the server that has a key."""

    async def ask(self, key: str, /, *words: str) -> Any: ...

    async def replicas(self, key: str, /) -> int: ...


async def send(connection: Any, bound: BoundScript, args: tuple[str, ...], *, loading: bool) -> list[Any]:
    """Send a script call. With ``loading``, its script is loaded in the same packet, for a server that
    forgets scripts quickly."""
    _, reply = await send_all(connection, _load(bound, loading), pack(bound.words + args))
    if isinstance(reply, Exception):
        raise reply
    reply_parts: list[Any] = reply
    return reply_parts


async def exchange(
    connection: Any, bound: BoundScript, args: tuple[str, ...], wait: Wait, *, loading: bool = False
) -> list[Any]:
    """Send a move and its wait; return the move's reply once it is confirmed.

    Raises redis-py's exception if the move fails, and ServerUnavailable or ServerRefused if it was made but
    not confirmed.
    """
    commands = (_load(bound, loading), pack(bound.words + args), *wait.packed_commands())
    _, reply, mark_reply, wait_reply = await send_all(connection, *commands)
    if isinstance(reply, Exception):
        raise reply
    if isinstance(mark_reply, rx.NoScriptError):
        load_reply, mark_reply, wait_reply = await send_all(
            connection, _load(wait.mark, True), *wait.packed_commands()
        )
        if isinstance(mark_reply, rx.NoScriptError) and isinstance(load_reply, Exception):
            mark_reply = load_reply
    for error in (mark_reply, wait_reply):
        if isinstance(error, Exception):
            raise _unconfirmed_error(wait, error)
    if _count(wait_reply) < wait.quorum:
        raise ServerUnavailable(
            f"the server made this change, but {wait.confirmers} did not confirm it within {wait.milliseconds / 1000:g} seconds; it is safe to send the call again",
            taken=True,
        )
    reply_parts: list[Any] = reply
    return reply_parts


async def send_all(connection: Any, *commands: bytes) -> list[Any]:
    """Send all commands in one packet, and read every reply. An error reply is returned, not raised, since
    others follow it. If a load fails, the replies after it show it."""
    await connection.send_packed_command((b"".join(commands),), check_health=False)
    return [await _read(connection) if command else None for command in commands]


async def _read(connection: Any) -> Any:
    """Read a reply, or return the server's error as a value, so that the replies after it are always read."""
    try:
        return await connection.read_response()
    except rx.ResponseError as error:
        return error


async def check(durable: Durable, server: ServerQueries, key: str) -> None:
    """Raise Invalid if the server that has this key does not support ``durable``."""

    async def ask(*words: str) -> Any:
        return await server.ask(key, *words)

    if durable == "fsync":
        await _check_fsync(ask)
    elif durable == "replica" and (not await _count_confirmations(durable, 1, ask)):
        raise _unsupported(durable, "a connected replica", "has none that answers", "connect one")
    elif durable == "majority":
        await _check_majority(ask, lambda: server.replicas(key))


async def _check_majority(ask: Callable[..., Awaitable[Any]], replicas: Callable[[], Awaitable[int]]) -> None:
    try:
        count = await replicas()
    except ServerRefused as error:
        cure = "add the ACL rule +info, or give a URL of Sentinel or a cluster, which count the replicas"
        problem = f"does not report it ({error})"
        raise _unsupported("majority", "the number of replicas", problem, cure) from error
    quorum = majority_of(count)
    confirmations = await _count_confirmations("majority", quorum, ask)
    if confirmations < quorum:
        need = f"{quorum} connected {('replica' if quorum == 1 else 'replicas')}"
        raise _unsupported(
            "majority", need, f"has {count}, of which {confirmations} answered", "connect them"
        )


async def check_fsync_again(ask: Callable[..., Awaitable[Any]]) -> bool:
    """Raise ServerRefused if a server that was checked for ``fsync`` now confirms too early. Returns False if
    the setting can't be read; then it need not be tried again."""
    config = await _configuration(ask)
    fsync = config.get("appendfsync")
    if fsync not in (None, "always"):
        raise ServerRefused(
            f"the policy's durable is 'fsync', but this server now has appendfsync {fsync}, with which it may confirm writes that a power cut loses; nothing was changed. Set appendfsync always on the server, or set the queue's durable to 'server'"
        )
    return fsync is not None


async def _check_fsync(ask: Callable[..., Awaitable[Any]]) -> None:
    config = await _configuration(ask)
    if config.get("appendonly") == "no":
        raise _no_file()
    fsync = config.get("appendfsync")
    if fsync not in (None, "always"):
        problem = f"has appendfsync {fsync}, with which it may confirm writes that a power cut loses"
        raise _unsupported("fsync", "appendfsync always", problem, "set appendfsync always on the server")
    confirmations = await _count_confirmations("fsync", 1, ask)
    if fsync is None and await _is_valkey(ask):
        problem = "does not allow this user to read that setting"
        cure = "allow the user who configures the queue to call CONFIG GET (the ACL rule +config|get)"
        raise _unsupported("fsync", "appendfsync always", problem, cure)
    if not confirmations:
        raise _unsupported(
            "fsync", "a disk that confirms", f"did not confirm within {_TRY_MILLISECONDS} ms", "check its log"
        )


async def _configuration(ask: Callable[..., Awaitable[Any]]) -> dict[str, str]:
    """The options in CONFIG; empty if the user may not read them, as on many managed servers."""
    try:
        config: dict[str, str] = await ask("CONFIG GET", "append*")
    except rx.ResponseError:
        return {}
    return config


async def _is_valkey(ask: Callable[..., Awaitable[Any]]) -> bool:
    """Whether this is Valkey, or may be, if the name can't be read."""
    try:
        return b"valkey" in await ask("HELLO")
    except rx.ResponseError:
        return True


async def _count_confirmations(durable: Durable, quorum: int, ask: Callable[..., Awaitable[Any]]) -> int:
    """The number of confirmations. Raises Invalid if WAIT or WAITAOF itself does not work."""
    words = _command(durable, quorum)
    try:
        return _count(await ask(*words, str(_TRY_MILLISECONDS)))
    except rx.ResponseError as error:
        message = str(error).lower()
        if "appendonly" in message:
            raise _no_file() from error
        problem, cure = (f"answers {error}", "use Valkey, or Redis 7.2 or newer")
        if isinstance(error, rx.NoPermissionError):
            problem, cure = ("does not allow it to this user", f"add the ACL rule +{words[0].lower()}")
        raise _unsupported(durable, words[0], problem, cure) from error
