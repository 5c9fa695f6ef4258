"""The examples of the OpenAPI document."""

from __future__ import annotations

from typing import Any

import leaseq
from leaseq.transfer import CONTENT_TYPES
from leaseq.webapp.api.description import account_examples
from leaseq.webapp.api.models.responses import serialize_policy

_AT, _UNTIL, _LATER = "2026-11-21T10:00:00.123Z", "2026-11-21T10:05:00.123Z", "2026-11-21T10:03:12.480Z"
_PAYLOAD = {"text": "Great, but late", "order": "40-1182"}
_RESULT = {"stars": 4}
_FORM = {
    "show": [{"field": "text", "kind": "markdown"}],
    "ask": {
        "type": "object",
        "required": ["stars"],
        "properties": {"stars": {"type": "integer", "minimum": 1, "maximum": 5, "title": "How many stars?"}},
    },
    "keys": {},
}
_POLICY = serialize_policy(
    leaseq.Policy(title="Reviews", instructions="Four or more stars only if the parcel arrived.", form=_FORM)
)
_COUNTS = {"inbound": 8214, "reserved": 37, "scheduled": 12, "finished": 41003, "dead": 6}
_ALERT = {"name": "waiting", "limit": 5000, "value": 5012, "since": _AT}
_QUEUE = {
    "name": "reviews",
    "title": "Reviews",
    "paused": None,
    "policy": _POLICY,
    "form": _FORM,
    "counts": _COUNTS,
    "alerts": [_ALERT],
}
_LEASE = {
    "queue": "reviews",
    "id": "r-1",
    "token": 17,
    "payload": _PAYLOAD,
    "attempt": 1,
    "reserved_at": _AT,
    "expires_at": _UNTIL,
    "lease_seconds": 300.0,
    "draft": None,
    "person": "alice",
}
_NEXT = {**_LEASE, "id": "r-2", "token": 18, "payload": {"text": "Never again", "order": "40-1190"}}
_GRANT = {
    "token": 17,
    "person": "alice",
    "attempt": 1,
    "reserved_at": _AT,
    "how": "held",
    "ended_at": None,
    "expires_at": _UNTIL,
    "renewals": 0,
    "reason": None,
    "undone": None,
    "renewable": False,
}
_ANSWER = {
    "id": "r-1",
    "payload": _PAYLOAD,
    "result": _RESULT,
    "person": "alice",
    "token": 17,
    "attempt": 1,
    "finished_at": _LATER,
    "late": False,
    "reserved_at": _AT,
    "seconds": 192.357,
}
_ITEM = {
    "id": "r-1",
    "state": "reserved",
    "payload": _PAYLOAD,
    "priority": 100,
    "requires": [],
    "assignment": 1,
    "assigned_to": [],
    "due": None,
    "attempts": 1,
    "failures": 0,
    "last_error": None,
    "enqueued_at": "2026-11-21T09:12:40.002Z",
    "answers_needed": 1,
    "leases": [_GRANT],
    "answers": [],
    "late_answers": [],
    "history": [_GRANT],
}
_RELEASED_GRANT = {**_GRANT, "how": "released", "ended_at": _LATER}
_WAITING_ITEM = {**_ITEM, "state": "inbound", "leases": [], "history": [_RELEASED_GRANT]}
_FINISHED_GRANT = {**_GRANT, "how": "finished", "ended_at": _LATER}
_REOPENED_GRANT = {**_GRANT, "how": "reopened", "ended_at": _LATER, "reason": "It is a refund"}
_CORRECTED_ITEM = {
    **_ITEM,
    "state": "finished",
    "leases": [],
    "history": [
        {**_GRANT, "how": "corrected", "ended_at": _LATER},
        {**_GRANT, "how": "finished", "ended_at": _LATER, "token": 18, "person": "meg"},
    ],
    "answers": [{**_ANSWER, "token": 18, "person": "meg"}],
    "late_answers": [_ANSWER],
}
_ADOPTED_ITEM = {
    **_ITEM,
    "state": "finished",
    "leases": [],
    "history": [_FINISHED_GRANT],
    "answers": [{**_ANSWER, "late": True}],
}
_STATS = {
    **_COUNTS,
    "oldest_inbound_seconds": 15120.5,
    "overdue": 0,
    "waiting": 0,
    "paused": None,
    "counters": {"enqueued": 49272, "reserved": 42210, "finished": 41003, "late": 3, "died": 6},
    "alerts": [_ALERT],
    "unreachable": 0,
}
_EVENT = {
    "cursor": "1795255200123.0",
    "at": _AT,
    "what": "reserved",
    "id": "r-1",
    "person": "alice",
    "token": 17,
    "detail": None,
}
_ACCESS = {"work": {"people": [], "skills": [], "teams": ["Refunds"]}, "manage": None}
_WEBHOOK = {
    "id": "wh-0a1b2c3d4e5f",
    "url": "https://example.org/hook",
    "events": ["item.finished"],
    "queues": ["reviews"],
    "created_at": _AT,
    "created_by": "ann",
    "since": _AT,
    "failing_since": None,
    "disabled_at": None,
    "disabled_why": None,
    "rotating_until": None,
}
_SECRET = {**_WEBHOOK, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw7hZkPz3Oe1c="}
_DELIVERY = {
    "id": "msg_1d5e0c0f6f0f4f5cb0b3f3a1f2c9d8e7",
    "webhook_id": "msg_1d5e0c0f6f0f4f5cb0b3f3a1f2c9d8e7",
    "type": "item.finished",
    "state": "delivered",
    "created_at": _AT,
    "next_at": None,
    "tries": [{"at": _LATER, "status": 204, "seconds": 0.08, "excerpt": "", "error": None}],
}
_LINE = (
    '{"id":"r-1","payload":{"text":"Great, but late"},"result":{"stars":4},"person":"alice","token":17,'
    '"attempt":1,"finished_at":"2026-11-21T10:03:12.480Z","late":false,'
    '"reserved_at":"2026-11-21T10:00:00.123Z","seconds":192.357}\n'
)
_TABLE = (
    "id,payload.text,result.stars,person,token,attempt,finished_at,late,reserved_at,seconds\n"
    'r-1,"Great, but late",4,alice,17,1,2026-11-21T10:03:12.480Z,false,2026-11-21T10:00:00.123Z,192.357\n'
)
_NEW_ITEM = {
    "payload": _PAYLOAD,
    "id": "r-1",
    "priority": 50,
    "requires": ["fr"],
    "due": "2026-11-24T17:00:00Z",
}
_TOKEN = {"token": 17}

_Q, _I = "/queues/{q}", "/queues/{q}/items/{id}"

_W = "/webhooks/{webhook}"

PATHS: dict[str, str] = {
    "q": "reviews",
    "id": "r-1",
    "name": "alice",
    "webhook": "wh-0a1b2c3d4e5f",
    **account_examples.PATHS,
}
"""Example values of the names in a path."""

REQUESTS: dict[str, dict[str, Any]] = {
    f"PUT {_Q}": {"a form": {"title": "Reviews", "lease_seconds": 300, "form": _FORM}},
    f"POST {_Q}/items": {"one": _NEW_ITEM, "several": [_NEW_ITEM, {"payload": {"text": "Never again"}}]},
    f"POST {_Q}/import": {
        "rows": [{"id": "r-1", "text": "Great, but late"}, {"id": "r-2", "text": "Never again"}]
    },
    f"POST {_Q}/reserve": {"now": {}, "wait": {"wait": 20}},
    f"POST {_I}/finish": {"and next": {**_TOKEN, "result": _RESULT, "then_reserve": True}},
    f"POST {_I}/undo": {"undo": _TOKEN},
    f"POST {_I}/abandon": {"never again": {**_TOKEN, "reason": "I know the author", "again": False}},
    f"POST {_I}/fail": {"broken, and next": {**_TOKEN, "error": "The text is cut off", "then_reserve": True}},
    f"POST {_I}/renew": {"renew": _TOKEN},
    f"PUT {_I}/draft": {"so far": {**_TOKEN, "draft": {"stars": 3}}},
    f"POST {_I}/adopt": {"adopt": _TOKEN},
    f"POST {_I}/reopen": {"to the same person": {**_TOKEN, "to": "alice", "reason": "It is a refund"}},
    f"POST {_I}/correct": {"correct": {**_TOKEN, "result": _RESULT}},
    f"POST {_I}/revive": {"revive": {}},
    f"POST {_I}/release": {"release": {}},
    f"PATCH {_I}": {
        "urgent": {"priority": 10, "due": "2026-11-24T17:00:00.000Z"},
        "in an hour": {"delay": 3600},
        "two answers are enough": {"answers": 2},
        "another payload": {"payload": {"text": "Great, but late"}, "due": None},
    },
    f"POST {_I}/assign": {"to one": {"person": "alice"}},
    f"POST {_Q}/revive": {"all": {}, "some": {"error": "cut off"}},
    f"POST {_Q}/bulk": {
        "release": {"action": "release", "ids": ["r-1", "r-2"]},
        "assign": {"action": "assign", "ids": ["r-3"], "person": "alice"},
        "to anybody": {"action": "unassign", "ids": ["r-3"]},
    },
    f"POST {_Q}/remove": {"all": {"state": "dead"}, "some": {"state": "inbound", "person": "alice"}},
    f"POST {_Q}/clear": {"clear": {}},
    f"POST {_Q}/pause": {"lunch": {"reason": "Lunch until two"}},
    f"POST {_Q}/resume": {"resume": {}},
    "PUT /queues/{q}/access": {"only one team": {"work": {"teams": ["Refunds"]}, "manage": None}},
    **account_examples.REQUESTS,
    "POST /webhooks": {
        "one queue": {"url": "https://example.org/hook", "events": ["item.finished"], "queues": ["reviews"]}
    },
    f"POST {_W}/rotate": {"rotate": {}},
    f"POST {_W}/enable": {"enable": {}},
    f"POST {_W}/disable": {"disable": {}},
    f"POST {_W}/test": {"test": {}},
    f"POST {_W}/replay": {"failed": {"failed": True}, "since": {"since": "2026-11-21T10:00:00Z"}},
}
RESPONSES: dict[str, dict[str, Any]] = {
    "GET /queues": {"queues": [_QUEUE], "unreadable": [], "after": None},
    f"GET {_Q}": _QUEUE,
    f"PUT {_Q}": _QUEUE,
    f"GET {_Q}/stats": _STATS,
    f"GET {_Q}/items": {"items": [_ITEM], "after": "/1795255500123000/1/r-1"},
    f"GET {_Q}/search": {"items": [_ITEM], "compared": 41, "after": None},
    f"POST {_Q}/items": {"id": "r-1", "added": True},
    f"POST {_Q}/import": {
        "added": 2,
        "duplicates": 0,
        "conflicts": 0,
        "rejected": 1,
        "errors": [
            {
                "line": 3,
                "rule": "row_width",
                "values": {"columns": 2, "count": 1, "marks": "commas"},
                "detail": "expected as many columns as the header has (2), got 1 (separated by commas)",
            }
        ],
        "conflicting": [],
        "sheet": None,
        "sheets": None,
    },
    f"GET {_Q}/due": {"items": [{**_ITEM, "due": "2026-11-24T17:00:00.000Z"}], "after": None},
    f"GET {_I}": _ITEM,
    f"POST {_Q}/reserve": _LEASE,
    f"GET {_Q}/mine": {"leases": [_LEASE], "after": None},
    f"POST {_I}/finish": {"id": "r-1", "late": False, "replayed": False, "next": _NEXT},
    f"POST {_I}/undo": {**_LEASE, "token": 19, "draft": _RESULT},
    f"POST {_I}/abandon": {"id": "r-1", "next": None},
    f"POST {_I}/fail": {"id": "r-1", "retry_at": "2026-11-21T10:03:14.480Z", "next": _NEXT},
    f"POST {_I}/renew": {**_LEASE, "expires_at": "2026-11-21T10:08:12.480Z"},
    f"POST {_I}/adopt": _ADOPTED_ITEM,
    f"POST {_I}/reopen": {**_WAITING_ITEM, "history": [_REOPENED_GRANT], "assigned_to": ["alice"]},
    f"POST {_I}/correct": _CORRECTED_ITEM,
    f"POST {_I}/revive": _WAITING_ITEM,
    f"POST {_I}/release": _WAITING_ITEM,
    f"PATCH {_I}": {**_WAITING_ITEM, "priority": 10, "due": "2026-11-24T17:00:00.000Z"},
    f"POST {_I}/assign": {**_WAITING_ITEM, "assigned_to": ["alice"]},
    f"DELETE {_I}/assignment": _WAITING_ITEM,
    f"POST {_Q}/revive": {"revived": 12, "more": False},
    f"POST {_Q}/bulk": {
        "done": 1,
        "refused": [
            {
                "id": "r-2",
                "code": "not-found",
                "rule": "no_item",
                "values": {"queue": "reviews", "id": "r-2"},
                "detail": "queue 'reviews' has no item 'r-2': it was never there, or was removed",
            }
        ],
    },
    f"GET {_Q}/answers/new": {
        "answers": [_ANSWER],
        "more": False,
        "after": "reviews:1795255392480125.17",
    },
    f"GET {_Q}/late": {"answers": [{**_ANSWER, "late": True}], "after": None},
    f"POST {_Q}/remove": {"removed": 12, "more": False},
    f"POST {_Q}/clear": {"returned": 3, "released": 1, "died": 0, "forgotten": 0, "more": False},
    f"POST {_Q}/pause": {"paused": "Lunch until two"},
    f"POST {_Q}/resume": {"paused": None},
    f"GET {_Q}/journal": {"events": [_EVENT], "after": _EVENT["cursor"]},
    "GET /queues/{q}/access": _ACCESS,
    "PUT /queues/{q}/access": _ACCESS,
    **account_examples.RESPONSES,
    "GET /webhooks": {"webhooks": [_WEBHOOK], "after": None},
    "POST /webhooks": _SECRET,
    f"GET {_W}": _WEBHOOK,
    f"POST {_W}/rotate": _SECRET,
    f"POST {_W}/enable": _WEBHOOK,
    f"POST {_W}/disable": {**_WEBHOOK, "disabled_at": _LATER, "disabled_why": "disabled by ann"},
    f"POST {_W}/test": {
        **_DELIVERY,
        "id": "msg_test_5c1e",
        "webhook_id": "msg_test_5c1e",
        "type": "webhook.test",
    },
    f"GET {_W}/deliveries": {"deliveries": [_DELIVERY], "after": None},
    f"POST {_W}/replay": {"replayed": 12},
}

STREAMS: dict[str, dict[str, Any]] = {
    f"GET {_Q}/answers": {
        "application/x-ndjson": _LINE,
        "application/json": [_ANSWER],
        "text/csv": _TABLE,
        "text/tab-separated-values": _TABLE.replace('"', "").replace("t, b", "t; b").replace(",", "\t"),
        CONTENT_TYPES["xlsx"]: "PK…, the bytes of a workbook",
    },
    f"GET {_Q}/events": {
        "text/event-stream": 'event: journal\nid: 1795255200123.0\ndata: {"what": "reserved"}\n\n'
    },
}
"""Responses that are not a single JSON object, by media type."""
