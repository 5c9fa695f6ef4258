"""The examples of the OpenAPI document: those of responses are made from their models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import leaseq
from leaseq.transfer import CONTENT_TYPES
from leaseq.webapp.api.models.policy import serialize_policy

_AT, _UNTIL, _LATER = "2026-11-21T10:00:00.123Z", "2026-11-21T10:05:00.123Z", "2026-11-21T10:03:12.480Z"
_DUE = "2026-11-24T17:00:00.000Z"
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
_LINE = (
    '{"id":"r-1","payload":{"text":"Great, but late"},"result":{"stars":4},"person":"alice","token":17,'
    '"attempt":1,"finished_at":"2026-11-21T10:03:12.480Z","late":false,'
    '"reserved_at":"2026-11-21T10:00:00.123Z","seconds":192.357,"changed":[]}\n'
)
_TABLE = (
    "id,payload.text,result.stars,person,token,attempt,finished_at,late,reserved_at,seconds,changed\n"
    'r-1,"Great, but late",4,alice,17,1,2026-11-21T10:03:12.480Z,false,2026-11-21T10:00:00.123Z,192.357,\n'
)
_ROW_ANSWER = {name: value for name, value in json.loads(_LINE).items() if name not in ("id", "payload")}
_ITEM_ROW = {
    "id": "r-1",
    "payload": {"text": "Great, but late"},
    "priority": 100,
    "requires": [],
    "due": None,
    "at": None,
    "max_attempts": None,
    "form": None,
    "expires": None,
    "to": None,
    "state": "finished",
    "since": _LATER,
    "attempts": 1,
    "failures": 0,
    "last_error": None,
    "died_of": None,
    "enqueued_at": _AT,
    "held_by": [],
    "assigned_to": [],
    "answers": [_ROW_ANSWER],
}
_ITEM_TABLE = 'id,payload.text,state,result.stars,person\nr-1,"Great, but late",finished,4,alice\n'
_NEW_ITEM = {"payload": _PAYLOAD, "id": "r-1", "priority": 50, "requires": ["fr"], "due": _DUE}
_TOKEN = {"token": 17}
_LINE_OF_TEXT = "Parcels from Poland are refunds from today"
_NEVER_AGAIN = {"text": "Never again", "order": "40-1190"}
_WEBHOOK = {"url": "https://example.org/hook", "events": ["item.finished"], "queues": ["reviews"]}

_ITEM_PART, _FILE_PART = (
    "39d1c6bd1a3a6f2b9e4d1f0c6a7b8e21",
    "dGhlLXJhbmRvbS1w." + "c2lnbmF0dXJl" * 3 + "LW9mLWE",
)
_NO_ITEM = leaseq.ItemNotFound("reviews", "r-2")
_BAD_ROW = leaseq.Invalid("row", "width", what="header", columns=2, count=1, marks="commas")

_SAME: tuple[tuple[Any, str], ...] = (
    ("reviews", "about queue Queue.name"),
    (1, "answers_needed assignment attempt attempts done Imported.rejected"),
    ("ann", "by created_by"),
    (None, "died_of draft expires Item.form Token.queue"),
    ("r-1", "id Event.id"),
    ("alice", "name person"),
    (12, "removed replayed revived scheduled"),
    (3, "returned RowError.line"),
    (17, "token Event.token"),
    ([], "unreadable AccessGroup.skills Imported.conflicting Item.answers Item.late_answers"),
    ("msg_1d5e0c0f6f0f4f5cb0b3f3a1f2c9d8e7", "Delivery.id Delivery.webhook_id"),
    ("reserved", "Event.what Item.state"),
)

VALUES: dict[str, Any] = {
    **{name: value for value, names in _SAME for name in names.split()},
    **{f"Webhook.{field}": value for field, value in _WEBHOOK.items()},
    "account": {
        "name": "alice",
        "shown_name": "",
        "role": "worker",
        "skills": ["fr"],
        "team": "Refunds",
        "disabled": False,
    },
    "compared": 41,
    "counters": {"enqueued": 49272, "reserved": 42210, "finished": 41003, "late": 3, "died": 6},
    "cursor": "1795255200123.0",
    "dead": 6,
    "due": _DUE,
    "enqueued_at": "2026-11-21T09:12:40.002Z",
    "excerpt": "",
    "fields": {},
    "expires_at": _UNTIL,
    "finished": 41003,
    "finished_at": _LATER,
    "form": _FORM,
    "how": "held",
    "inbound": 8214,
    "lease_seconds": 300.0,
    "limit": 5000,
    "link": "https://example.org/welcome?token=pJ3xR0c8",
    "oldest_inbound_seconds": 15120.5,
    "payload": _PAYLOAD,
    "policy": _POLICY,
    "priority": 100,
    "reserved": 37,
    "reserved_at": _AT,
    "result": _RESULT,
    "retry_at": "2026-11-21T10:03:14.480Z",
    "scope": "work",
    "seconds": 192.357,
    "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw7hZkPz3Oe1c=",
    "shown_name": "Alice Miller",
    "skills": ["fr"],
    "team": "Refunds",
    "title": "Reviews",
    "unreachable": 0,
    "value": 5012,
    "what": "queue.paused",
    "text": _LINE_OF_TEXT,
    "AccessGroup.teams": ["Refunds"],
    "Alert.name": "waiting",
    "File.key": f"reviews/{_ITEM_PART}/{_FILE_PART}",
    "File.name": "parcel.jpg",
    "File.size": 482133,
    "File.type": "image/jpeg",
    "Upload.url": f"/api/v1/queues/reviews/items/r-1/files/{_FILE_PART}?ticket=WyJyZXZpZXdz",
    "Delivery.state": "delivered",
    "Delivery.type": "item.finished",
    "Answered.how": "single",
    "Answered.state": "answered",
    "Waiting.state": "waiting",
    "Enqueued.added": True,
    "Finished.replayed": False,
    "Imported.added": 2,
    "Invitation.expires_at": "2026-11-28T10:00:00.123Z",
    "Invitation.id": "8be1f7a4c220",
    "Invitation.name": "bob",
    "LogEntry.detail": "reason: Lunch until two",
    "NewAnswerList.after": "reviews:1795255392480125.17",
    "PersonExport.format": "leaseq.person/1",
    "RefusedItem.code": "not-found",
    "RefusedItem.detail": str(_NO_ITEM),
    "RefusedItem.id": "r-2",
    "RefusedItem.rule": _NO_ITEM.rule,
    "RefusedItem.values": dict(_NO_ITEM.values),
    "RowError.detail": str(_BAD_ROW).removeprefix("row: "),
    "RowError.rule": _BAD_ROW.rule,
    "RowError.values": dict(_BAD_ROW.values),
    "Token.expires_at": "2026-12-21T10:00:00.123Z",
    "Token.id": "5f0c9a31d2e4",
    "Token.name": "nightly import",
    "Token.token": "leaseq_4fKX0dPq7Vn1c2Jr9uWz5sYbTg8hLmEo",
    "Try.seconds": 0.08,
    "Try.status": 204,
    "Webhook.id": "wh-0a1b2c3d4e5f",
}
"""Values by field, or by model and field. Others are null, false, 0, a time, or of the field's own model."""

_ZEROS = {"boolean": False, "integer": 0}
Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Models:
    """The models of responses, of which examples are made. ``schemas``: the document's, by name."""

    schemas: Mapping[str, Schema]

    def example(self, name: str, **values: Any) -> dict[str, Any]:
        """An example of a model with all its fields, of which some have these values."""
        kind = name.removeprefix("New").removeprefix("Caller").removesuffix("WithSecret")
        fields = self.schemas[name]["properties"].items()
        return {
            field: self.of(schema, f"{name}.{field}", f"{kind}.{field}", field) for field, schema in fields
        } | values

    def of(self, schema: Schema, *names: str) -> Any:
        """An example of a value: the one that `VALUES` has under the first of these names, if it has one."""
        for name in names:
            if name in VALUES:
                return VALUES[name]
        model = schema.get("$ref", "").rpartition("/")[2]
        if model:
            target = self.schemas[model]
            return target["enum"][0] if "enum" in target else self.example(model)
        if {"type": "null"} in schema.get("anyOf", ()):
            return None
        if "oneOf" in schema:
            return self.of(schema["oneOf"][0])
        if schema["type"] == "array":
            return [self.of(schema["items"])] if "$ref" in schema["items"] else []
        if schema.get("format") == "date-time":
            return _AT
        if schema["type"] not in _ZEROS:
            raise KeyError(f"VALUES has no example of {names[0]}")
        return _ZEROS[schema["type"]]


_Q, _I, _W, _P = "/queues/{q}", "/queues/{q}/items/{id}", "/webhooks/{webhook}", "/people/{name}"

PATHS: dict[str, str] = {
    "q": "reviews",
    "id": "r-1",
    "name": "alice",
    "webhook": VALUES["Webhook.id"],
    "token": VALUES["Token.id"],
    "invitation": VALUES["Invitation.id"],
    "team": "Refunds",
    "file": _FILE_PART,
}
"""Example values of the names in a path."""

REQUESTS: dict[str, dict[str, Any]] = {
    f"PUT {_Q}": {"a form": {"title": "Reviews", "lease_seconds": 300, "form": _FORM}},
    f"POST {_Q}/items": {"one": _NEW_ITEM, "several": [_NEW_ITEM, {"payload": _NEVER_AGAIN}]},
    f"POST {_Q}/import": {
        "rows": [{"id": "r-1", "text": "Great, but late"}, {"id": "r-2", "text": "Never again"}]
    },
    f"POST {_Q}/reserve": {"now": {}, "wait": {"wait": 20}},
    f"POST {_I}/finish": {"and next": {**_TOKEN, "result": _RESULT, "then_reserve": True}},
    f"POST {_I}/undo": {"undo": _TOKEN},
    f"POST {_I}/abandon": {"never again": {**_TOKEN, "reason": "I know the author", "again": False}},
    f"POST {_I}/fail": {"broken, and next": {**_TOKEN, "error": "The text is cut off", "then_reserve": True}},
    f"POST {_I}/renew": {"renew": _TOKEN},
    f"POST {_I}/files": {
        "a picture": {
            **_TOKEN,
            "question": "photo",
            "name": "parcel.jpg",
            "size": 482133,
            "type": "image/jpeg",
        }
    },
    f"PUT {_I}/draft": {"so far": {**_TOKEN, "draft": {"stars": 3}}},
    f"POST {_I}/adopt": {"adopt": _TOKEN},
    f"POST {_I}/reopen": {"to the same person": {**_TOKEN, "to": "alice", "reason": "It is a refund"}},
    f"POST {_I}/correct": {"correct": {**_TOKEN, "result": _RESULT}},
    f"PATCH {_I}": {
        "urgent": {"priority": 10, "due": _DUE},
        "in an hour": {"delay": 3600},
        "two answers are enough": {"answers": 2},
        "another payload": {"payload": {"text": "Great, but late"}, "due": None},
    },
    f"POST {_I}/assign": {"to one": {"person": "alice"}},
    f"POST {_I}/cancel": {"not needed": {"reason": "The order was withdrawn"}},
    f"POST {_Q}/revive": {"all": {}, "some": {"error": "cut off"}},
    f"POST {_Q}/bulk": {
        "release": {"action": "release", "ids": ["r-1", "r-2"]},
        "assign": {"action": "assign", "ids": ["r-3"], "person": "alice"},
        "to anybody": {"action": "unassign", "ids": ["r-3"]},
        "not needed": {"action": "cancel", "ids": ["r-5"], "reason": "The order was withdrawn"},
        "reopen": {"action": "reopen", "ids": ["r-4"], "reason": "It is a refund"},
        "change": {"action": "change", "ids": ["r-1", "r-2"], "priority": 10, "due": _DUE},
    },
    f"POST {_Q}/remove": {"all": {"state": "dead"}, "some": {"state": "inbound", "person": "alice"}},
    f"POST {_Q}/questions": {
        "a refund": {
            "payload": {"text": "Refund 80 EUR for order 40-1182?"},
            "form": {
                "ask": {
                    "type": "object",
                    "required": ["refund"],
                    "properties": {"refund": {"enum": ["yes", "no"], "title": "Refund?"}},
                }
            },
            "timeout": 3600,
            "wait": 25,
        }
    },
    f"POST {_Q}/pause": {"lunch": {"reason": "Lunch until two"}},
    f"PUT {_Q}/announcement": {"new rule": {"text": _LINE_OF_TEXT, "until": _DUE}},
    f"PUT {_Q}/access": {"only one team": {"work": {"teams": ["Refunds"]}, "manage": None}},
    f"PUT {_P}": {"a worker": {"role": "worker", "skills": ["fr"]}},
    "POST /tokens": {"for an import": {"name": "nightly import", "scope": "enqueue", "days": 30}},
    "POST /teams/{team}/rename": {"to Returns": {"to": "Returns"}},
    "POST /invitations": {"one person": {"name": "bob", "skills": ["fr"], "team": "Refunds", "days": 7}},
    "POST /webhooks": {"one queue": _WEBHOOK},
    f"POST {_W}/replay": {"failed": {"failed": True}, "since": {"since": "2026-11-21T10:00:00Z"}},
}
"""Of a call that is not here, whose body has no required field: that body, empty."""


def responses(models: Models) -> dict[str, dict[str, Any]]:
    """The fields of single responses that differ from those of their models."""
    grant, answer = partial(models.example, "Grant", ended_at=_LATER), partial(models.example, "Answer")
    waiting = {"state": "inbound", "leases": [], "history": [grant(how="released")]}
    finished = {"state": "finished", "leases": [], "history": [grant(how="finished")]}
    replacing = {"token": 18, "person": "meg"}
    next_lease = {"next": models.example("Lease", id="r-2", token=18, payload=_NEVER_AGAIN)}
    return {
        f"GET {_Q}/items": {"after": "/1795255500123000/1/r-1"},
        f"GET {_Q}/journal": {"after": VALUES["cursor"]},
        f"GET {_Q}/late": {"answers": [answer(late=True)]},
        f"POST {_I}/finish": next_lease,
        f"POST {_I}/fail": next_lease,
        f"POST {_I}/undo": {"token": 19, "draft": _RESULT},
        f"POST {_I}/renew": {"expires_at": "2026-11-21T10:08:12.480Z"},
        f"POST {_I}/adopt": {**finished, "answers": [answer(late=True)]},
        f"POST {_I}/reopen": {
            **waiting,
            "history": [grant(how="reopened", reason="It is a refund")],
            "assigned_to": ["alice"],
        },
        f"POST {_I}/correct": {
            **finished,
            "history": [grant(how="corrected"), grant(how="finished", **replacing)],
            "answers": [answer(**replacing)],
            "late_answers": [answer()],
        },
        f"POST {_I}/revive": waiting,
        f"POST {_I}/release": waiting,
        f"POST {_I}/cancel": {
            **waiting,
            "state": "dead",
            "last_error": "The order was withdrawn",
            "died_of": "cancelled",
        },
        f"PATCH {_I}": {**waiting, "priority": 10},
        f"POST {_I}/assign": {**waiting, "assigned_to": ["alice"]},
        f"DELETE {_I}/assignment": waiting,
        f"POST {_Q}/pause": {"paused": "Lunch until two"},
        f"POST {_Q}/people/{{name}}/let-work": {"people": []},
        f"GET {_Q}/access": {"work": models.example("AccessGroup")},
        f"PUT {_Q}/access": {"work": models.example("AccessGroup")},
        f"POST {_W}/disable": {"disabled_at": _LATER, "disabled_why": "disabled by ann"},
        f"POST {_W}/test": {"id": "msg_test_5c1e", "webhook_id": "msg_test_5c1e", "type": "webhook.test"},
        "GET /me": {"token": models.example("CallerToken")},
    }


STREAMS: dict[str, dict[str, Any]] = {
    f"GET {_Q}/answers": {
        "application/x-ndjson": _LINE,
        "application/json": [{**json.loads(_LINE), "payload": _PAYLOAD}],
        "text/csv": _TABLE,
        "text/tab-separated-values": _TABLE.replace('"', "").replace("t, b", "t; b").replace(",", "\t"),
        CONTENT_TYPES["xlsx"]: "PK…, the bytes of a workbook",
    },
    f"GET {_Q}/items/export": {
        "application/x-ndjson": json.dumps(_ITEM_ROW) + "\n",
        "application/json": [_ITEM_ROW],
        "text/csv": _ITEM_TABLE,
        "text/tab-separated-values": _ITEM_TABLE.replace('"', "").replace("t, b", "t; b").replace(",", "\t"),
        CONTENT_TYPES["xlsx"]: "PK…, the bytes of a workbook",
    },
    f"GET {_I}/files/{{file}}": {"application/octet-stream": "the bytes of the file"},
    f"GET {_Q}/events": {
        "text/event-stream": 'event: journal\nid: 1795255200123.0\ndata: {"what": "reserved"}\n\n'
    },
}
"""Responses that are not a single JSON object, by media type."""
