"""The bodies of webhooks: the JSON that is sent for an event."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from leaseq import validation
from leaseq.engine import codec
from leaseq.errors import Invalid
from leaseq.events import Event
from leaseq.models import GivenAnswer, Json, Outcome
from leaseq.transfer import rfc3339

_TYPES = {
    "finished": "item.finished",
    "adopted": "item.finished",
    "corrected": "item.finished",
    "failed": "item.failed",
    "died": "item.dead",
    "late": "item.late",
    "alert.raised": "alert.raised",
    "alert.resolved": "alert.resolved",
}
"""The type of a webhook, by the kind of the journal event. An adopted or corrected answer becomes the item's
answer, so it is sent as finished."""

_LARGE = ("payload", "result")
Body = dict[str, Any]


def type_of(event: Event) -> str | None:
    """The type of the webhook that is sent for an event; None if none is sent."""
    return _TYPES.get(str(event.what))


def delivery_id(endpoint: str, *parts: object) -> str:
    """The id of the delivery of this event to this endpoint, the same in every process and at any time. It
    contains no '.', which separates the parts of the signed content."""
    return "msg_" + sha256("\0".join(map(str, (endpoint, *parts))).encode()).hexdigest()[:32]


def event_key(queue: str, event: Event) -> tuple[str, ...]:
    """The parts of an event's delivery id. One call may record an answer both as finished and as adopted, or
    the death of each assignment of an item: only one webhook is sent for these."""
    type = type_of(event)
    token = "" if type == "item.dead" else str(event.token or "")
    return queue, str(type), event.cursor.partition(".")[0], event.id or str(event.detail), token


def body(type: str, at: datetime, data: Json) -> Body:
    """A body within the size limit: a payload or result that is too large is left out and listed in
    ``left_out``."""
    content = {"type": type, "timestamp": rfc3339(at), "data": data}
    for name in _LARGE:
        if _fits(content):
            break
        if data.get(name) is not None:
            data = {**data, name: None, "left_out": [*data.get("left_out", ()), name]}
            content = {**content, "data": data}
    return content


def data_of(queue: str, event: Event, outcome: Outcome | None, batch: Sequence[Event]) -> Json:
    """The data sent for a journal event. ``outcome``: its item's, or None if the item has been removed.
    ``batch``: the events around it."""
    type = type_of(event)
    if type in ("alert.raised", "alert.resolved"):
        return {"queue": queue, **_alert(event.detail)}
    payload = outcome.payload if outcome else None
    data = {"queue": queue, "id": event.id, "payload": payload}
    if type in ("item.finished", "item.late"):
        return {**data, **_answer(event, outcome)}
    times = {"failed_at" if type == "item.failed" else "died_at": rfc3339(event.at)}
    failure = _failure(event, batch)
    return {**data, "person": event.person, "token": event.token, "error": failure, **times}


def _answer(event: Event, outcome: Outcome | None) -> Json:
    answer: GivenAnswer | None = None
    if outcome is not None:
        answer = next((one for one in outcome.answers if one.token == event.token), None)
    if answer is None:  # the item has been removed, or the answer undone
        person = event.person if event.what != "adopted" else None
        late = event.what in ("late", "adopted")
        at = rfc3339(event.at)
        return {"result": None, "person": person, "token": event.token, "finished_at": at, "late": late}
    return {
        "result": answer.result,
        "person": answer.person,
        "token": answer.token,
        "finished_at": rfc3339(answer.finished_at),
        "late": answer.late,
    }


def _failure(event: Event, batch: Sequence[Event]) -> Json:
    """The error text of a failure. If the item died, an event of the same call says of what."""
    if event.what == "failed":
        return event.detail
    call = event.cursor.partition(".")[0]
    for one in batch:
        if one.id == event.id and one.cursor.partition(".")[0] == call and one.what in ("failed", "expired"):
            return one.detail if one.what == "failed" else codec.EXPIRED
    return None


def _alert(detail: Json) -> Json:
    return detail if isinstance(detail, dict) else {"alert": detail}


def _fits(content: Body) -> bool:
    try:
        validation.dump_json(content, "body")
    except Invalid:
        return False
    return True
