"""Checks of memory: the eviction policy, and how much is free."""

from __future__ import annotations

from collections.abc import Iterator

from leaseq.doctor.checks import Check, Finding, Node

EVICTION = Check(
    "eviction",
    "memory",
    "error",
    "has maxmemory-policy {policy}: it deletes items and answers when memory is full",
    "CONFIG SET maxmemory-policy noeviction, then CONFIG REWRITE",
)
NEARLY_FULL = Check(
    "memory-nearly-full",
    "memory",
    "warning",
    "uses {percent} % of its maxmemory ({maxmemory:,} bytes): at 100 % nothing can be enqueued",
    "CONFIG SET a larger maxmemory, or set keep_finished_seconds of a queue, so that finished items are "
    "deleted",
)
NO_LIMIT = Check(
    "memory-no-limit",
    "memory",
    "warning",
    "has no maxmemory, and uses {percent} % of the machine's {total:,} bytes: when memory is used up, the "
    "system kills it",
    "CONFIG SET a maxmemory below that of the machine (then only enqueue is refused), or add memory",
)
CHECKS = (EVICTION, NEARLY_FULL, NO_LIMIT)
PASSED = "nothing is deleted when memory is full, and there is room"

FULL = 90  # per cent of maxmemory
CROWDED = 70  # per cent of the machine's memory: during a rewrite of the file, changed pages are held twice


def find_problems(node: Node) -> Iterator[Finding]:
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
