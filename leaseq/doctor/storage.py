"""Checks of storage: what a power cut or a crash would lose, what is evicted, and how much memory is free."""

from __future__ import annotations

from collections.abc import Iterator

from leaseq.doctor.checks import Check, Finding, Node

NO_FILE = Check(
    "no-append-only-file",
    "error",
    "writes nothing to its disk (appendonly no, no snapshots): a restart loses all data",
    "CONFIG SET appendonly yes and appendfsync always, then CONFIG REWRITE",
)
SNAPSHOTS_ONLY = Check(
    "snapshots-only",
    "error",
    "only writes snapshots (save {save}, appendonly no): a crash loses all work since the last one",
    "CONFIG SET appendonly yes and appendfsync always, then CONFIG REWRITE",
)
EVERY_SECOND = Check(
    "appendfsync",
    "error",
    "has appendfsync {fsync}: a power cut loses up to {lost} of acknowledged work",
    "CONFIG SET appendfsync always, then CONFIG REWRITE",
)
NOT_ON_REWRITE = Check(
    "no-fsync-on-rewrite",
    "error",
    "has no-appendfsync-on-rewrite yes: while the file is rewritten, a power cut loses acknowledged work",
    "CONFIG SET no-appendfsync-on-rewrite no, then CONFIG REWRITE",
)
TRUNCATED = Check(
    "aof-load-truncated",
    "warning",
    "has aof-load-truncated no: it does not start after a power cut that cut off the last write, although "
    "that "
    "write was never acknowledged",
    "CONFIG SET aof-load-truncated yes, then CONFIG REWRITE",
)
EVICTION = Check(
    "eviction",
    "error",
    "has maxmemory-policy {policy}: it deletes items and answers when memory is full",
    "CONFIG SET maxmemory-policy noeviction, then CONFIG REWRITE",
)
NEARLY_FULL = Check(
    "memory-nearly-full",
    "warning",
    "uses {percent} % of its maxmemory ({maxmemory:,} bytes): at 100 % nothing can be enqueued",
    "CONFIG SET a larger maxmemory, or set keep_finished_seconds of a queue, so that finished items are "
    "deleted",
)
NO_LIMIT = Check(
    "memory-no-limit",
    "warning",
    "has no maxmemory, and uses {percent} % of the machine's {total:,} bytes: when memory is used up, the "
    "system kills it",
    "CONFIG SET a maxmemory below that of the machine (then only enqueue is refused), or add memory",
)
PASSED = "each write is in the append-only file, fsynced, before it is acknowledged"
MEMORY_PASSED = "nothing is deleted when memory is full, and there is room"

_LOST = {"everysec": "a second", "no": "half a minute"}


def find_problems(node: Node) -> Iterator[Finding]:
    appendonly = node.config("appendonly", else_info="aof_enabled")
    if appendonly in ("no", "0"):
        save = node.config("save")
        check = NO_FILE if save == "" else SNAPSHOTS_ONLY
        yield check.finding(node.where, save=save or "not visible")
        return
    fsync = node.config("appendfsync")
    if fsync not in (None, "always"):
        yield EVERY_SECOND.finding(node.where, fsync=fsync, lost=_LOST.get(fsync, "some time"))
    if node.config("no-appendfsync-on-rewrite") == "yes":
        yield NOT_ON_REWRITE.finding(node.where)
    if node.config("aof-load-truncated") == "no":
        yield TRUNCATED.finding(node.where)


FULL = 90  # per cent of maxmemory
CROWDED = 70  # per cent of the machine's memory: during a rewrite of the file, changed pages are held twice


def find_memory_problems(node: Node) -> Iterator[Finding]:
    policy = node.config("maxmemory-policy", else_info="maxmemory_policy")
    if policy not in (None, "noeviction"):
        yield EVICTION.finding(node.where, policy=policy)
    limit = node.config("maxmemory", else_info="maxmemory")
    used_bytes = node.info_field("used_memory")
    if limit is None or used_bytes is None:
        return
    if int(limit):
        percent = 100 * used_bytes // int(limit)
        if percent >= FULL:
            yield NEARLY_FULL.finding(node.where, percent=percent, maxmemory=int(limit))
    elif total := node.info_field("total_system_memory"):
        percent = 100 * used_bytes // total
        if percent >= CROWDED:
            yield NO_LIMIT.finding(node.where, percent=percent, total=total)
