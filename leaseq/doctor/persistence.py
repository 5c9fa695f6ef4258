"""Checks of persistence: what a power cut or a crash would lose, by the append-only file's settings."""

from __future__ import annotations

from collections.abc import Iterator

from leaseq.doctor.checks import Check, Finding, Node

NO_FILE = Check(
    "no-append-only-file",
    "append-only file",
    "error",
    "writes nothing to its disk (appendonly no, no snapshots): a restart loses all data",
    "CONFIG SET appendonly yes and appendfsync always, then CONFIG REWRITE",
)
SNAPSHOTS_ONLY = Check(
    "snapshots-only",
    "append-only file",
    "error",
    "only writes snapshots (save {save}, appendonly no): a crash loses all work since the last one",
    "CONFIG SET appendonly yes and appendfsync always, then CONFIG REWRITE",
)
EVERY_SECOND = Check(
    "appendfsync",
    "append-only file",
    "error",
    "has appendfsync {fsync}: a power cut loses up to {lost} of acknowledged work",
    "CONFIG SET appendfsync always, then CONFIG REWRITE",
)
NOT_ON_REWRITE = Check(
    "no-fsync-on-rewrite",
    "append-only file",
    "error",
    "has no-appendfsync-on-rewrite yes: while the file is rewritten, a power cut loses acknowledged work",
    "CONFIG SET no-appendfsync-on-rewrite no, then CONFIG REWRITE",
)
TRUNCATED = Check(
    "aof-load-truncated",
    "append-only file",
    "warning",
    "has aof-load-truncated no: it does not start after a power cut that cut off the last write, although "
    "that "
    "write was never acknowledged",
    "CONFIG SET aof-load-truncated yes, then CONFIG REWRITE",
)
CHECKS = (NO_FILE, SNAPSHOTS_ONLY, EVERY_SECOND, NOT_ON_REWRITE, TRUNCATED)
PASSED = "each write is in the append-only file, fsynced, before it is acknowledged"

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
