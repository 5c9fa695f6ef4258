"""Calls with invalid arguments: the field that the error names, and values for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, cast

import leaseq
from leaseq import NewItem


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


CYCLE: list[object] = []
CYCLE.append(CYCLE)

IDS = ["", "x" * 201, "a\tb", "a\nb", "\x00", "\ud800", "a\u2028b", 5, b"a", True]
PEOPLE = ["", "x" * 65, "a\tb", "a\nb", "\udfff", 5, None, b"ann"]
JSON = [
    {"n": math.nan},
    [math.inf],
    -math.inf,
    {"n": 10**5000},
    {"text": "\ud800"},
    {"\udfff": 1},
    nested(65),
    nested(5_000),
    {"a": CYCLE},
    {1, 2},
    b"bytes",
    object(),
    {"day": datetime(2030, 1, 1, tzinfo=UTC)},
    {"big": "x" * 262_144},
    {"big": "ü" * 131_080},
]
TEXTS = [5, "x" * 2_001, "\ud800", b"bytes", ["a"]]
NUMBERS = [math.nan, math.inf, -1, 10**400, "5", True, None, [5]]
WHOLE = [*NUMBERS, 1.0, 0.5]
TIMES = [
    datetime(2030, 1, 1),  # noqa: DTZ001 - the bad input
    "2030-01-01",
    5,
    datetime(1969, 1, 1, tzinfo=UTC),
    datetime(9001, 1, 1, tzinfo=UTC),
    datetime(1970, 1, 1, tzinfo=timezone(timedelta(hours=5))),  # in UTC it is in 1969
    datetime.max.replace(tzinfo=UTC),
]
CURSORS = ["x", "", "/", "normal", "5", "//", "normal//a", "normal/x/a", "normal/5/", "no/5/a", "/5/a", 5]
CURSORS += [":normal/5/0x1/a", "a:b:normal/5/1/a", "fr:normal:1000/5/1/a", ":other/5/1/a", ":normal/5/1/.."]
CURSORS += ["normal/-5/a", "normal/٣/a", "normal/1e3/a", f"normal/{'9' * 400}/a", "normal/5/\ud800", b"/5/a"]
EVENTS = ["x", "", "5", "5.", ".5", "-", "+", "5.5.5", "٣.0", "5-.1", "$", 5]
EVENTS += [f"{'9' * 40}.0", f"5.{'9' * 5000}"]
REQUESTS = ["", "a b", "a\n", "x" * 129, 5, "ü"]
SKILLS = [
    "fr",
    5,
    b"fr",
    ["x" * 65],
    ["fr+legal"],
    ["fr,de"],
    ["a b"],
    ["@ann"],
    ["ü"],
    [""],
    {"fr": 1, "FR": 2},
    ["FR"],
    [5],
    [None],
    [["fr"]],
    [str(n) for n in range(17)],
]

Call = Callable[[leaseq.Queue, Any], object]
TOKEN: dict[str, Any] = {"id": "held", "person": "ann", "token": 1}

# A call, the field that the error names, and values that are refused.
CALLS: list[tuple[str, Call, str, list[Any]]] = [
    ("enqueue payload", lambda q, v: q.enqueue(v), "payload", JSON),
    ("enqueue id", lambda q, v: q.enqueue({}, id=v), "id", IDS),
    ("enqueue priority", lambda q, v: q.enqueue({}, priority=v), "priority", [*WHOLE, 1_000_001]),
    ("enqueue delay", lambda q, v: q.enqueue({}, delay=v), "delay", [*NUMBERS, 315_360_001]),
    ("enqueue due", lambda q, v: q.enqueue({}, due=v), "due", TIMES),
    ("enqueue at", lambda q, v: q.enqueue({}, at=v), "at", TIMES),
    (
        "enqueue at and delay",
        lambda q, v: q.enqueue({}, at=v, delay=5),
        "at",
        [datetime(2030, 1, 1, tzinfo=UTC)],
    ),
    ("enqueue_many at", lambda q, v: q.enqueue_many([NewItem({}, at=v)]), "items[0].at", TIMES),
    ("fail retry", lambda q, v: q.fail(retry=v, **TOKEN), "retry", [None, 0, "no"]),
    (
        "enqueue max_attempts",
        lambda q, v: q.enqueue({}, max_attempts=v),
        "max_attempts",
        [0, 1_001, 1.0, True],
    ),
    ("enqueue requires", lambda q, v: q.enqueue({}, requires=v), "requires", [*SKILLS, None]),
    (
        "enqueue_many requires",
        lambda q, v: q.enqueue_many([NewItem({}, requires=v)]),
        "items[0].requires",
        [*SKILLS, None],
    ),
    ("enqueue_many", lambda q, v: q.enqueue_many(v), "items", ["text", {"a": 1}, b"bytes", 5, None]),
    ("enqueue_many payload", lambda q, v: q.enqueue_many([{}, v]), "items[1].payload", JSON),
    ("enqueue_many id", lambda q, v: q.enqueue_many([NewItem({}, id=v)]), "items[0].id", IDS),
    ("reserve person", lambda q, v: q.reserve(v), "person", PEOPLE),
    ("reserve skills", lambda q, v: q.reserve("bob", skills=v), "skills", SKILLS),
    (
        "reserve request_id",
        lambda q, v: q.reserve("bob", request_id=v),
        "request_id",
        ["", "a b", "x" * 129, 5, "ü"],
    ),
    ("mine", lambda q, v: q.mine(v), "person", PEOPLE),
    ("why_nothing", lambda q, v: q.why_nothing(v), "person", PEOPLE),
    ("why_nothing skills", lambda q, v: q.why_nothing("bob", v), "skills", [*SKILLS, None]),
    ("renew lease", lambda q, v: q.renew(v), "lease", ["held", 5, {"id": "held"}, ("held", 1, "ann")]),
    ("renew id", lambda q, v: q.renew(**{**TOKEN, "id": v}), "id", [*IDS, None]),
    ("renew token", lambda q, v: q.renew(**{**TOKEN, "token": v}), "token", [*WHOLE, 0, 2**53 + 1]),
    ("renew person", lambda q, v: q.renew(**{**TOKEN, "person": v}), "person", PEOPLE),
    ("renew request", lambda q, v: q.renew(**TOKEN, request_id=v), "request_id", REQUESTS),
    ("save_draft", lambda q, v: q.save_draft(draft=v, **TOKEN), "draft", [*JSON, ...]),
    ("finish", lambda q, v: q.finish(result=v, **TOKEN), "result", [*JSON, ...]),
    ("finish and next", lambda q, v: q.finish(result=v, then_reserve=True, **TOKEN), "result", [math.nan]),
    (
        "finish and next skills",
        lambda q, v: q.finish(result=1, then_reserve=True, skills=v, **TOKEN),
        "skills",
        [*SKILLS, None],
    ),
    ("finish skills", lambda q, v: q.finish(result=1, skills=v, **TOKEN), "skills", SKILLS),
    ("abandon", lambda q, v: q.abandon(reason=v, **TOKEN), "reason", TEXTS),
    ("abandon again", lambda q, v: q.abandon(again=v, **TOKEN), "again", [None, 0, 1, "never", "", []]),
    ("fail", lambda q, v: q.fail(error=v, **TOKEN), "error", TEXTS),
    ("clear", lambda q, v: q.clear(v), "limit", [*WHOLE, 0, 1_000_001]),
    ("get", lambda q, v: q.get(v), "id", [*IDS, None]),
    ("page state", lambda q, v: q.page(v), "state", ["all", "", "Inbound", None, 5, ["inbound"]]),
    ("page limit", lambda q, v: q.page("inbound", limit=v), "limit", [*WHOLE, 0, 1_001]),
    ("page after", lambda q, v: q.page("inbound", after=v), "after", CURSORS),
    ("page after, finished", lambda q, v: q.page("finished", after=v), "after", ["normal/5/a", "x", "/x/a"]),
    ("journal after", lambda q, v: q.journal(after=v), "after", EVENTS),
    ("journal limit", lambda q, v: q.journal(limit=v), "limit", [*WHOLE, 0, 10_001]),
    ("latest events before", lambda q, v: q.latest_events(before=v), "before", EVENTS),
    ("latest events limit", lambda q, v: q.latest_events(v), "limit", [*WHOLE, 0, 10_001]),
    ("revive", lambda q, v: q.revive(v), "id", IDS),
    ("revive by", lambda q, v: q.revive("held", by=v), "by", [p for p in PEOPLE if p is not None]),
    ("release", lambda q, v: q.release(v), "id", IDS),
    ("remove", lambda q, v: q.remove(v), "id", IDS),
    ("assign", lambda q, v: q.assign(v, "bob"), "id", [*IDS, None]),
    ("assign person", lambda q, v: q.assign("waits", v), "person", PEOPLE),
    ("assign by", lambda q, v: q.assign("waits", "bob", by=v), "by", ["", "\t", 5]),
    ("unassign", lambda q, v: q.unassign(v), "id", [*IDS, None]),
    ("unassign by", lambda q, v: q.unassign("waits", by=v), "by", ["", "\t", 5]),
    ("unassign all", lambda q, v: q.unassign_all(v), "person", PEOPLE),
    ("unassign all by", lambda q, v: q.unassign_all("bob", by=v), "by", ["", "\t", 5]),
    ("check alerts", lambda q, v: q.check_alerts(unreachable=v), "unreachable", [*WHOLE, -1]),
    ("change", lambda q, v: q.change(v, priority=1), "id", [*IDS, None]),
    ("change answers", lambda q, v: q.change("waits", answers=v), "answers", [*WHOLE, 0, 101]),
    ("change by", lambda q, v: q.change("waits", priority=1, by=v), "by", ["", "\t", 5]),
    ("by_due limit", lambda q, v: q.by_due(limit=v), "limit", [*WHOLE, 0, 1_001]),
    ("by_due after", lambda q, v: q.by_due(after=v), "after", ["x", "normal/5/1/a", "/x/1/a", "/5/a", 5]),
    ("adopt", lambda q, v: q.adopt("held", v), "token", [*WHOLE, 0]),
    ("reopen", lambda q, v: q.reopen("held", v), "token", [*WHOLE, 0]),
    ("reopen to", lambda q, v: q.reopen("held", 1, to=v), "to", ["", "\t", 5]),
    ("reopen reason", lambda q, v: q.reopen("held", 1, reason=v), "reason", TEXTS),
    ("correct", lambda q, v: q.correct("held", v, {}, by="meg"), "token", [*WHOLE, 0]),
    ("correct by", lambda q, v: q.correct("held", 1, {}, by=v), "by", ["", "\t", 5]),
    ("pause", lambda q, v: q.pause(v), "reason", TEXTS),
    ("pause by", lambda q, v: q.pause(by=v), "by", ["", "\t", 5]),
    ("resume by", lambda q, v: q.resume(by=v), "by", ["", "\t", 5]),
    ("configure by", lambda q, v: q.configure(by=v, holds=2), "by", ["", "\t", 5]),
    ("configure unknown", lambda q, v: q.configure(**cast("Any", {v: 1})), "lease_second", ["lease_second"]),
]
POLICY: dict[str, list[Any]] = {
    "lease_seconds": [*NUMBERS, 0, 0.09, 604_801],
    "max_attempts": [*WHOLE, 0, 1_001],
    "retry_seconds": [*NUMBERS, 604_801],
    "retry_max_seconds": [*NUMBERS, 604_801],
    "holds": [*WHOLE, 0, 101],
    "alerts": [
        "waiting>5",
        {"waiting": 5},
        None,
        5,
        [5],
        [None],
        ["waiting"],
        ["waiting>"],
        [">5"],
        ["waiting>00"],
        ["waiting>05"],
        ["waiting>-5"],
        ["waiting>5.5"],
        ["waiting>1e3"],
        ["waiting>1000000000"],
        ["waiting>٥"],
        ["waiting>1٥"],
        ["waiting > 5"],
        ["waiting>5\n"],
        ["waiting<5"],
        ["Waiting>5"],
        ["inbound>5"],
        ["waiting>5 oldest>5"],
        ["waiting>5", "waiting>6"],
        ["waiting>5", "waiting>5"],
    ],
    "bands": [
        (150, 50),
        (50,),
        (1, 2, 3),
        50,
        "50",
        None,
        (0.5, 1),
        (True, 5),
        (-1, 5),
        (0, 1_000_001),
        {1: 2},
    ],
    "renewals": [-1, 1.0, True, "5", 1_000_001],
    "share_drafts": [1, 0, None, "true"],
    "answers": [*WHOLE, 0, 101],
    "max_abandons": [0, -1, 1.0, True, "5", 1_001],
    "dedupe_seconds": [*NUMBERS, 315_360_001],
    "keep_finished_seconds": [n for n in [*NUMBERS, 315_360_001] if n is not None],
    "keep_finished_count": [-1, 1.0, True, "5", 1_000_000_001],
    "keep_dead_seconds": [n for n in [*NUMBERS, 315_360_001] if n is not None],
    "durable": ["", "disk", None, 5, ["fsync"]],
    "title": [None, 5, "x" * 201, "\ud800"],
    "instructions": [None, 5, "x" * 65_537, "\ud800"],
    "form": [
        "form",
        [],
        5,
        {"other": 1},
        {"show": "text"},
        {"show": [5]},
        {"show": [{"field": "text", "colour": "red"}]},
        {"show": [{"field": "a", "kind": "script"}]},
        {"show": [{"kind": "text"}]},
        {"show": [{"field": "a", "label": 5}]},
        {"keys": ["a"]},
        {"keys": {"ab": 1}},
        {"keys": {1: 1}},
        {"keys": {"a": math.nan}},
        {"ask": True},
        {"ask": {}},
        {"ask": {"type": "array"}},
        {"ask": {"type": "object", "properties": 5}},
        {"ask": {"type": "object", "required": "a"}},
        {"ask": {"type": "object", "properties": {"a": {"pattern": "("}}}},
        {"ask": {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}},
        {"ask": {"type": "object", "allOf": [{"$ref": "#/allOf/1"}]}},
        {"ask": {"type": "object", "$ref": "https://example.org/schema.json"}},
        {"ask": {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:1/a.json"}}}},
        {"ask": {"type": "object", "properties": {"a": {"$ref": "file:///etc/hostname"}}}},
        {"ask": {"type": "object", 1: 2}},
        {"ask": {"type": "object", "properties": {"a": nested(100)}}},
        {"ask": {"type": "object", "title": "x" * 262_144}},
    ],
}
CALLS += [
    (f"configure {name}", lambda q, v, name=name: q.configure(**{name: v}), name, values)  # type: ignore[misc]
    for name, values in POLICY.items()
]
