"""Checks of rights: the access control list that leaseq needs."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from redis import exceptions as rx

from leaseq.doctor.checks import Check, Finding, Node, send_command
from leaseq.engine.keys import Keys

CLIENT = (
    "ping",
    "client|setname",
    "evalsha",
    "script|load",
    "sadd",
    "srem",
    "smembers",
    "scan",
    "xdel",
    "subscribe",
    "unsubscribe",
    "wait",
    "waitaof",
)
"""Commands of the library. HELLO and AUTH need no rule."""

SCRIPTS = (
    "time",
    "exists",
    "expire",
    "unlink",
    "set",
    "mget",
    "hget",
    "hmget",
    "hgetall",
    "hset",
    "hdel",
    "hexists",
    "hlen",
    "hincrby",
    "hscan",
    "zadd",
    "zrem",
    "zrange",
    "zrangebyscore",
    "zcard",
    "zcount",
    "zscore",
    "zrank",
    "xadd",
    "xtrim",
    "xrange",
    "xrevrange",
    "xlen",
    "xinfo|groups",
    "xgroup|create",
    "xgroup|setid",
    "xgroup|destroy",
    "xpending",
    "publish",
)
"""Commands in the scripts under lua/."""

LIBRARY = CLIENT + SCRIPTS

PAGES = (
    "get",
    "del",
    "ttl",
    "incrby",
    "decrby",
    "hsetnx",
    "hkeys",
    "hvals",
    "lpush",
    "rpush",
    "lrange",
    "ltrim",
    "zremrangebyrank",
    "zrevrangebyscore",
    "watch",
    "unwatch",
    "rename",
    "multi",
    "exec",
)
"""Further commands of the web app, for accounts, sessions, rate limits, activity and idempotency."""

METRICS = ("info",)
"""A further command of ``/metrics``, for the server's memory and clients: only these are missing without it.
"""

CLUSTER = ("cluster|slots", "command", "readonly")
"""Further commands that redis-py sends to the nodes of a cluster."""

SENTINEL = ("sentinel|masters",)
"""Commands that are sent to a sentinel, to find the primary."""

SENTINEL_DOCTOR = ("sentinel|master", "sentinel|slaves", "sentinel|ckquorum")
"""Further commands that the doctor sends to a sentinel."""

DOCTOR = (
    "info",
    "config|get",
    "acl|whoami",
    "acl|dryrun",
    "cluster|info",
)
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
    "permissions",
    "error",
    "does not allow the user {user} to call {commands}: scripts that need it fail",
    "ACL SETUSER {user} {rules}",
)
PAGES_COMMANDS = Check(
    "acl-pages",
    "permissions",
    "error",
    "allows the user {user} most commands that the web app needs, but not {commands}",
    "ACL SETUSER {user} {rules}",
)
KEYS = Check(
    "acl-keys",
    "permissions",
    "error",
    "does not allow the user {user} to read and write the keys leaseq:*",
    "ACL SETUSER {user} {rules}",
)
CHANNELS = Check(
    "acl-channels",
    "permissions",
    "error",
    "does not allow the user {user} to use the channels leaseq:*: calls that wait for an item are not woken",
    "ACL SETUSER {user} {rules}",
)
CHECKS = (COMMANDS, PAGES_COMMANDS, KEYS, CHANNELS)
PASSED = "the user may call every command that the client and the scripts need"

KEY, CHANNEL = "<key>", "<channel>"

# How each command is tried. The first ones change nothing; those after HSET need the scratch key to exist.
TEST_COMMANDS = {
    "ping": "PING",
    "client|setname": "CLIENT SETNAME leaseq-doctor",
    "time": "TIME",
    "evalsha": f"EVALSHA {'0' * 40} 1 {KEY}",
    "script|load": "SCRIPT LOAD return",
    "wait": "WAIT 0 1",
    "waitaof": "WAITAOF 0 0 1",
    "publish": f"PUBLISH {CHANNEL} nothing",
    "subscribe": f"SUBSCRIBE {CHANNEL}",
    "unsubscribe": f"UNSUBSCRIBE {CHANNEL}",
    "scan": f"SCAN 0 MATCH {KEY} COUNT 1",
    "unlink": f"UNLINK {KEY}",
    "srem": f"SREM {KEY} member",
    "xdel": f"XDEL {KEY} 0-1",
    "exists": f"EXISTS {KEY}",
    "get": f"GET {KEY}",
    "mget": f"MGET {KEY}",
    "ttl": f"TTL {KEY}",
    "rename": f"RENAME {KEY} {KEY}",
    "smembers": f"SMEMBERS {KEY}",
    "hget": f"HGET {KEY} field",
    "hmget": f"HMGET {KEY} field",
    "hgetall": f"HGETALL {KEY}",
    "hexists": f"HEXISTS {KEY} field",
    "hkeys": f"HKEYS {KEY}",
    "hvals": f"HVALS {KEY}",
    "hlen": f"HLEN {KEY}",
    "hscan": f"HSCAN {KEY} 0",
    "lrange": f"LRANGE {KEY} 0 0",
    "ltrim": f"LTRIM {KEY} 0 0",
    "zrem": f"ZREM {KEY} member",
    "zrange": f"ZRANGE {KEY} 0 0",
    "zrangebyscore": f"ZRANGEBYSCORE {KEY} 0 0",
    "zrevrangebyscore": f"ZREVRANGEBYSCORE {KEY} 0 0",
    "zremrangebyrank": f"ZREMRANGEBYRANK {KEY} 0 0",
    "zcard": f"ZCARD {KEY}",
    "zcount": f"ZCOUNT {KEY} 0 0",
    "zscore": f"ZSCORE {KEY} member",
    "zrank": f"ZRANK {KEY} member",
    "xtrim": f"XTRIM {KEY} MAXLEN 1",
    "xrange": f"XRANGE {KEY} - + COUNT 1",
    "xrevrange": f"XREVRANGE {KEY} + - COUNT 1",
    "xlen": f"XLEN {KEY}",
    "xinfo|groups": f"XINFO GROUPS {KEY}",
    "xgroup|create": f"XGROUP CREATE {KEY} group 0",
    "xgroup|setid": f"XGROUP SETID {KEY} group 0",
    "xgroup|destroy": f"XGROUP DESTROY {KEY} group",
    "xpending": f"XPENDING {KEY} group",
    "xadd": f"XADD {KEY} NOMKSTREAM * field value",
    "zadd": f"ZADD {KEY} XX 0 member",
    "watch": f"WATCH {KEY}",
    "unwatch": "UNWATCH",
    "exec": "EXEC",
    "multi": "MULTI",
    "expire": f"EXPIRE {KEY} 60",
    "hdel": f"HDEL {KEY} field",
    "hset": f"HSET {KEY} field text",
    "hsetnx": f"HSETNX {KEY} field text",
    "hincrby": f"HINCRBY {KEY} field 1",
    "set": f"SET {KEY} text NX",
    "incrby": f"INCRBY {KEY} 1",
    "decrby": f"DECRBY {KEY} 1",
    "sadd": f"SADD {KEY} member",
    "lpush": f"LPUSH {KEY} member",
    "rpush": f"RPUSH {KEY} member",
    "del": f"DEL {KEY}",
}
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
    tried_needs = [need for need in TEST_COMMANDS if need in set(needs)]
    commands = {need: [_argument(word, keys) for word in TEST_COMMANDS[need].split()] for need in tried_needs}
    with node.connection() as connection:
        try:
            send_command(connection, "ACL", "DRYRUN", user, "PING")
        except rx.ResponseError:
            return _try_commands(node, connection, commands)
        return _dry_run(connection, user, commands)


def _argument(word: str, keys: Keys) -> str:
    return {KEY: keys.ledger, CHANNEL: keys.wake}.get(word, word)


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
