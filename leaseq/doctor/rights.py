"""Checks of rights: the access control list that leaseq needs."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from redis import exceptions as rx

from leaseq.doctor.checks import Check, Finding, Node, send_command
from leaseq.engine.keys import Keys

KEY, CHANNEL = "<key>", "<channel>"

# How each command is tried, by those who need it. The first ones change nothing; those after HSET need the
# scratch key to exist.
_TESTS = {
    "ping": ("client", "PING"),
    "client|setname": ("client", "CLIENT SETNAME leaseq-doctor"),
    "time": ("scripts", "TIME"),
    "evalsha": ("client", f"EVALSHA {'0' * 40} 1 {KEY}"),
    "script|load": ("client", "SCRIPT LOAD return"),
    "wait": ("client", "WAIT 0 1"),
    "waitaof": ("client", "WAITAOF 0 0 1"),
    "publish": ("scripts", f"PUBLISH {CHANNEL} nothing"),
    "subscribe": ("client", f"SUBSCRIBE {CHANNEL}"),
    "unsubscribe": ("client", f"UNSUBSCRIBE {CHANNEL}"),
    "scan": ("client", f"SCAN 0 MATCH {KEY} COUNT 1"),
    "unlink": ("scripts", f"UNLINK {KEY}"),
    "srem": ("client", f"SREM {KEY} member"),
    "xdel": ("client", f"XDEL {KEY} 0-1"),
    "exists": ("scripts", f"EXISTS {KEY}"),
    "get": ("pages", f"GET {KEY}"),
    "mget": ("scripts", f"MGET {KEY}"),
    "ttl": ("pages", f"TTL {KEY}"),
    "rename": ("pages", f"RENAME {KEY} {KEY}"),
    "smembers": ("client", f"SMEMBERS {KEY}"),
    "hget": ("scripts", f"HGET {KEY} field"),
    "hmget": ("scripts", f"HMGET {KEY} field"),
    "hgetall": ("scripts", f"HGETALL {KEY}"),
    "hexists": ("scripts", f"HEXISTS {KEY} field"),
    "hkeys": ("pages", f"HKEYS {KEY}"),
    "hvals": ("pages", f"HVALS {KEY}"),
    "hlen": ("scripts", f"HLEN {KEY}"),
    "hscan": ("scripts", f"HSCAN {KEY} 0"),
    "lrange": ("pages", f"LRANGE {KEY} 0 0"),
    "ltrim": ("pages", f"LTRIM {KEY} 0 0"),
    "zrem": ("scripts", f"ZREM {KEY} member"),
    "zrange": ("scripts", f"ZRANGE {KEY} 0 0"),
    "zrangebyscore": ("scripts", f"ZRANGEBYSCORE {KEY} 0 0"),
    "zrevrangebyscore": ("pages", f"ZREVRANGEBYSCORE {KEY} 0 0"),
    "zremrangebyrank": ("pages", f"ZREMRANGEBYRANK {KEY} 0 0"),
    "zcard": ("scripts", f"ZCARD {KEY}"),
    "zcount": ("scripts", f"ZCOUNT {KEY} 0 0"),
    "zscore": ("scripts", f"ZSCORE {KEY} member"),
    "zrank": ("scripts", f"ZRANK {KEY} member"),
    "xtrim": ("scripts", f"XTRIM {KEY} MAXLEN 1"),
    "xrange": ("scripts", f"XRANGE {KEY} - + COUNT 1"),
    "xrevrange": ("scripts", f"XREVRANGE {KEY} + - COUNT 1"),
    "xlen": ("scripts", f"XLEN {KEY}"),
    "xinfo|groups": ("scripts", f"XINFO GROUPS {KEY}"),
    "xgroup|create": ("scripts", f"XGROUP CREATE {KEY} group 0"),
    "xgroup|setid": ("scripts", f"XGROUP SETID {KEY} group 0"),
    "xgroup|destroy": ("scripts", f"XGROUP DESTROY {KEY} group"),
    "xpending": ("scripts", f"XPENDING {KEY} group"),
    "xadd": ("scripts", f"XADD {KEY} NOMKSTREAM * field value"),
    "zadd": ("scripts", f"ZADD {KEY} XX 0 member"),
    "watch": ("pages", f"WATCH {KEY}"),
    "unwatch": ("pages", "UNWATCH"),
    "exec": ("pages", "EXEC"),
    "multi": ("pages", "MULTI"),
    "expire": ("scripts", f"EXPIRE {KEY} 60"),
    "hdel": ("scripts", f"HDEL {KEY} field"),
    "hset": ("scripts", f"HSET {KEY} field text"),
    "hsetnx": ("pages", f"HSETNX {KEY} field text"),
    "hincrby": ("scripts", f"HINCRBY {KEY} field 1"),
    "set": ("scripts", f"SET {KEY} text NX"),
    "incrby": ("pages", f"INCRBY {KEY} 1"),
    "decrby": ("pages", f"DECRBY {KEY} 1"),
    "sadd": ("client", f"SADD {KEY} member"),
    "lpush": ("pages", f"LPUSH {KEY} member"),
    "rpush": ("pages", f"RPUSH {KEY} member"),
    "del": ("pages", f"DEL {KEY}"),
}
TEST_COMMANDS = {need: command for need, (_, command) in _TESTS.items()}
CLIENT, SCRIPTS, PAGES = (
    tuple(need for need, (group, _) in _TESTS.items() if group == name)
    for name in ("client", "scripts", "pages")
)
"""Commands of the library itself (HELLO and AUTH need no rule), those in the scripts under lua/, and further
ones of the web app, for accounts, sessions, rate limits, activity and idempotency."""

LIBRARY = CLIENT + SCRIPTS

METRICS = ("info",)
"""A further command of ``/metrics``, for the server's memory and clients: only these are missing without it.
"""

CLUSTER = ("cluster|slots", "command", "readonly")
"""Further commands that redis-py sends to the nodes of a cluster."""

SENTINEL = ("sentinel|masters",)
"""Commands that are sent to a sentinel, to find the primary."""

SENTINEL_DOCTOR = ("sentinel|master", "sentinel|slaves", "sentinel|ckquorum")
"""Further commands that the doctor sends to a sentinel."""

DOCTOR = ("info", "config|get", "acl|whoami", "acl|dryrun", "cluster|info")
"""Further commands of `leaseq doctor`. Without the right to one, it reports what it could not check."""

_NEWER = {"waitaof"}
"""Redis 7.0 lacks them: its users are created without them, and durable 'fsync' is not available."""

PATTERNS = ("~leaseq:*", "resetchannels", "&leaseq:*")


def rules(*needs: Iterable[str], password: str, newer: bool = True) -> list[str]:
    """The rules for ``ACL SETUSER name`` that allow what leaseq needs and nothing else.

    ``newer=False``: for a server that lacks the newest commands.
    """
    commands = dict.fromkeys(need for group in needs for need in group if newer or need not in _NEWER)
    return ["reset", "on", f">{password}", *PATTERNS, "-@all", *allow_rules(commands)]


def allow_rules(needs: Iterable[str]) -> list[str]:
    return [f"+{need}" for need in needs]


def is_dispensable(need: str) -> bool:
    """Whether leaseq can do without the command on a server that lacks it."""
    return need in _NEWER


COMMANDS = Check(
    "acl-commands",
    "error",
    "does not allow the user {user} to call {commands}: scripts that need it fail",
    "ACL SETUSER {user} {rules}",
)
PAGES_COMMANDS = Check(
    "acl-pages",
    "error",
    "allows the user {user} most commands that the web app needs, but not {commands}",
    "ACL SETUSER {user} {rules}",
)
KEYS = Check(
    "acl-keys",
    "error",
    "does not allow the user {user} to read and write the keys leaseq:*",
    "ACL SETUSER {user} {rules}",
)
CHANNELS = Check(
    "acl-channels",
    "error",
    "does not allow the user {user} to use the channels leaseq:*: calls that wait for an item are not woken",
    "ACL SETUSER {user} {rules}",
)
PASSED = "the user may call every command that the client and the scripts need"

_KEY_CREATING = {"hset", "hsetnx", "hincrby", "set", "incrby", "decrby", "sadd", "lpush", "rpush"}
_MODE_CHANGING = {"subscribe", "unsubscribe", "multi"}  # they leave their connection in another mode

Ask = Callable[..., Any]


@dataclass
class MissingRights:
    """The missing rights: commands, keys or channels."""

    commands: list[str] = field(default_factory=list)
    keys: bool = False
    channels: bool = False

    def note(self, need: str, refusal: str) -> None:
        if "to run the" in refusal or "unknown" in refusal.lower() or "not found" in refusal:
            self.commands.append(need)
        elif "channel" in refusal:
            self.channels = True
        else:
            self.keys = True


def find_problems(node: Node) -> Iterator[Finding]:
    user = user_of(node)
    missing_rights = find_missing_rights(node, user, (*LIBRARY, *PAGES))
    yield from _findings(node, user or "default", missing_rights)


def _findings(node: Node, user: str, missing_rights: MissingRights) -> Iterator[Finding]:
    library = [need for need in missing_rights.commands if need in LIBRARY]
    pages = [need for need in missing_rights.commands if need in PAGES]
    if library:
        rules = " ".join(allow_rules(library))
        yield COMMANDS.finding(node.where, user=user, commands=_command_list(library), rules=rules)
    if 0 < len(pages) < len(PAGES) / 2:  # with few or none of them, the user is for the library alone
        rules = " ".join(allow_rules(pages))
        yield PAGES_COMMANDS.finding(node.where, user=user, commands=_command_list(pages), rules=rules)
    if missing_rights.keys:
        yield KEYS.finding(node.where, user=user, rules=PATTERNS[0])
    if missing_rights.channels:
        yield CHANNELS.finding(node.where, user=user, rules=PATTERNS[-1])


def _command_list(commands: Iterable[str]) -> str:
    return ", ".join(command.replace("|", " ").upper() for command in commands)


def user_of(node: Node) -> str:
    """The name of our user, from ACL WHOAMI, else from the URL."""
    try:
        with node.connection() as connection:
            user: bytes = send_command(connection, "ACL", "WHOAMI")
            return user.decode()
    except rx.ResponseError:
        return str(node.settings.get("username") or "")


def find_missing_rights(node: Node, user: str, needs: Iterable[str]) -> MissingRights:
    keys = Keys(f"doctor.{secrets.token_hex(6)}")
    names = {KEY: keys.ledger, CHANNEL: keys.wake}
    tried_needs = [need for need in TEST_COMMANDS if need in set(needs)]
    commands = {need: [names.get(word, word) for word in TEST_COMMANDS[need].split()] for need in tried_needs}
    with node.connection() as connection:
        try:
            send_command(connection, "ACL", "DRYRUN", user, "PING")
        except rx.ResponseError:
            return _try_commands(node, connection, commands)
        return _dry_run(connection, user, commands)


def _dry_run(connection: Any, user: str, commands: dict[str, list[str]]) -> MissingRights:
    missing_rights = MissingRights()
    for need, command in commands.items():
        try:
            answer = send_command(connection, "ACL", "DRYRUN", user, *command)
            refusal = "" if answer == b"OK" else answer.decode()
        except rx.ResponseError as error:  # the server lacks the command
            refusal = "" if is_dispensable(need) else str(error)
        if refusal:
            missing_rights.note(need, refusal)
    return missing_rights


def _try_commands(node: Node, connection: Any, commands: dict[str, list[str]]) -> MissingRights:
    missing_rights = MissingRights()
    for need, command in commands.items():
        if need in _KEY_CREATING - {"hset"} and "hset" in missing_rights.commands:
            continue  # without the scratch key they would create one; HSET is reported already
        if need == "hset" and "hdel" in missing_rights.commands:
            continue  # it could not be deleted again; HDEL is reported already
        if need in _MODE_CHANGING:
            with node.connection() as other:
                refusal = _refusal(other, need, command)
        else:
            refusal = _refusal(connection, need, command)
        if refusal:
            missing_rights.note(need, refusal)
    if "hdel" in commands and "hdel" not in missing_rights.commands:
        _refusal(connection, "hdel", commands["hdel"])
    return missing_rights


def _refusal(connection: Any, need: str, command: list[str]) -> str:
    """The reason why the user may not run a command; '' if they may, even if the server refuses it for
    another reason."""
    try:
        send_command(connection, *command)
    except rx.ResponseError as error:
        text = str(error)
        is_denied = "no permissions" in text.lower()  # EXEC wraps it in an error of its own
        is_missing = text.lower().startswith("unknown") and not is_dispensable(need)
        return text if is_denied or is_missing else ""
    return ""
