"""Checks of access: passwords, TLS, and the unix socket's mode."""

from __future__ import annotations

import ipaddress
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from redis import exceptions as rx

from leaseq.doctor.checks import Check, Finding, Node, send_command
from leaseq.engine.keys import QUEUES

NO_PASSWORD = Check(
    "no-password",
    "error",
    "listens on the network ({where_to}) and accepts connections without a password",
    "ACL SETUSER leaseq as docs/acl.md says, then ACL SETUSER default off; or CONFIG SET requirepass",
)
PROTECTED_ONLY = Check(
    "protected-mode-only",
    "warning",
    "listens on the network ({where_to}) without a password: only protected-mode refuses other machines",
    "ACL SETUSER leaseq as docs/acl.md says, then ACL SETUSER default off; or CONFIG SET bind 127.0.0.1",
)
NO_TLS = Check(
    "no-tls",
    "error",
    "is used without TLS at {host}: anyone on the network path can read and change passwords and answers",
    "give the server a tls-port and use rediss:// (rediss+cluster://, rediss+sentinel://)",
)
PLAIN_PORT = Check(
    "plain-port",
    "warning",
    "listens on the network ({where_to}) on a port without TLS",
    "CONFIG SET bind 127.0.0.1, or CONFIG SET a tls-port and port 0",
)
SOCKET = Check(
    "socket-mode",
    "error",
    "has a unix socket that every user of the machine can use: {path} has mode {mode}",
    "set unixsocketperm 770 or stricter in its configuration; until its next start: chmod 770 {path}",
)
DIRECTORY_WRITABLE = Check(
    "socket-directory-writable",
    "error",
    "has its unix socket in a directory that every user can write to, so any of them can replace the socket: "
    "{path} has mode {mode}",
    "put the socket in a directory of its own: chmod 700 {path} (or 750, with a group)",
)
DIRECTORY_OPEN = Check(
    "socket-directory-open",
    "warning",
    "has its unix socket in a directory that is open to every user: {path} has mode {mode}",
    "chmod 700 {path} (or 750, with a group)",
)
PASSED = "a password is required from the network, and the socket is private"


class OpenAddresses(NamedTuple):
    """The addresses beyond loopback that a server listens on, and whether a plain port is among them."""

    where: str
    plain: bool


def find_problems(node: Node) -> Iterator[Finding]:
    addresses = open_addresses(node)
    if addresses is not None and accepts_anonymous(node):
        is_protected = node.config("protected-mode") == "yes" and not node.is_remote
        yield (PROTECTED_ONLY if is_protected else NO_PASSWORD).finding(node.where, where_to=addresses.where)
    if node.is_remote and not node.tls:
        yield NO_TLS.finding(node.where, host=node.settings["host"])
    elif addresses is not None and addresses.plain:
        yield PLAIN_PORT.finding(node.where, where_to=addresses.where)
    yield from _socket(node)


def open_addresses(node: Node) -> OpenAddresses | None:
    bind = node.config("bind")
    if bind is None:  # not readable: judge by our own connection
        return OpenAddresses(str(node.settings["host"]), not node.tls) if node.is_remote else None
    has_plain_port, has_tls_port = (node.config(option) not in (None, "0") for option in ("port", "tls-port"))
    words = [word for word in bind.split() if not _is_loopback_word(word)] if bind else ["every address"]
    if not words or not (has_plain_port or has_tls_port):
        return None
    return OpenAddresses(" ".join(words), has_plain_port)


def _is_loopback_word(word: str) -> bool:
    """Whether a word of ``bind`` is a loopback address. A dash in front: it may be missing; ``*``: all."""
    try:
        return ipaddress.ip_address(word.removeprefix("-")).is_loopback
    except ValueError:
        return word == "localhost"


def accepts_anonymous(node: Node) -> bool:
    """Whether a connection without a user name and password may read our keys. Tried, not read from
    CONFIG."""
    try:
        with node.connection(login=False) as connection:
            send_command(connection, "SMEMBERS", QUEUES)
    except rx.MovedError:  # allowed, but another node has the key
        return True
    except (rx.ResponseError, rx.ConnectionError, OSError):
        return False
    return True


def _socket(node: Node) -> Iterator[Finding]:
    path = node.path
    if path is None and not node.is_remote:
        path = node.config("unixsocket")
    if not path:
        return
    with suppress(OSError):  # in a container, or not readable by us: then not by others either
        socket, folder = Path(path), Path(path).parent
        mode = stat.S_IMODE(socket.stat().st_mode)
        folder_mode = stat.S_IMODE(folder.stat().st_mode)
        if mode & stat.S_IRWXO:
            yield SOCKET.finding(node.where, path=socket, mode=f"{mode:o}")
        if folder_mode & stat.S_IWOTH:
            yield DIRECTORY_WRITABLE.finding(node.where, path=folder, mode=f"{folder_mode:o}")
        elif folder_mode & stat.S_IRWXO:
            yield DIRECTORY_OPEN.finding(node.where, path=folder, mode=f"{folder_mode:o}")
