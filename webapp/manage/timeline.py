"""An item's timeline, in words, from its record and the journal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from flask_babel import gettext as _
from flask_babel import ngettext

import leaseq
from leaseq import Answer, Event, Grant, Json
from leaseq.webapp.rendering.filters import span


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """An event of an item's timeline."""

    at: datetime
    what: str
    comment: str | None = None  # written by the person
    seconds: float | None = None  # seconds since the grant
    notes: tuple[str, ...] = ()
    token: int | None = None  # of the lease that the event ended
    state: str = ""  # the resulting state, which sets the colour
    icon: str = "pencil"  # in static/shared/icons.svg
    gap: float | None = None  # seconds since the previous event


_STATES_AND_ICONS: dict[str, tuple[str, str]] = {
    "expired": ("inbound", "clock"),
    "abandoned": ("inbound", "return"),
    "failed": ("scheduled", "alert"),
    "released": ("inbound", "return"),
    "finished": ("finished", "check"),
    "undone": ("reserved", "return"),
    "reopened": ("inbound", "return"),
    "corrected": ("finished", "pencil"),
    "late": ("overdue", "clock"),
    "revived": ("inbound", "return"),
    "adopted": ("finished", "check"),
    "restored": ("inbound", "return"),
    "died": ("dead", "alert"),
    "due": ("inbound", "clock"),
    "assigned": ("inbound", "person"),
    "unassigned": ("inbound", "person"),
}
"""The resulting state and the icon, by how a lease ended or by a journal event's kind."""


def timeline_of(item: leaseq.Item, history: leaseq.History) -> list[TimelineEvent]:
    """The timeline, oldest first."""
    releases = {event.token: event.person for event in history.events if event.what == "released"}
    events = [TimelineEvent(item.enqueued_at, _("Added to the queue"), state="inbound", icon="plus")]
    for grant in item.history:
        events += _lease(grant, releases.get(grant.token))
    events += _from_journal(history)
    replaced_tokens = {grant.token for grant in item.history if grant.how in ("reopened", "corrected")}
    events += [
        TimelineEvent(
            late.finished_at,
            _("%(person)s finished it", person=late.person)
            if late.token in replaced_tokens
            else _("A late answer from %(person)s is kept", person=late.person),
            token=late.token,
            state="finished",
            icon="check",
        )
        for late in item.late_answers
        if not any(event.what == "late" and event.token == late.token for event in history.events)
    ]
    events.sort(key=lambda one: one.at)
    gaps = [None, *((later.at - earlier.at).total_seconds() for earlier, later in pairwise(events))]
    return [replace(one, gap=gap) for one, gap in zip(events, gaps, strict=True)]


def _lease(grant: Grant, released_by: str | None) -> Iterator[TimelineEvent]:
    notes = [_("attempt %(n)s", n=grant.attempt), _("token %(n)s", n=grant.token)]
    if grant.renewals:
        notes.append(ngettext("renewed once", "renewed %(num)s times", grant.renewals))
    yield TimelineEvent(
        grant.reserved_at,
        _("%(person)s got it", person=grant.person),
        notes=tuple(notes),
        state="reserved",
        icon="person",
    )
    if grant.ended_at:
        seconds = (grant.ended_at - grant.reserved_at).total_seconds()
        state, icon = _STATES_AND_ICONS[grant.how]
        text = _ending_text(grant, released_by)
        yield TimelineEvent(grant.ended_at, text, grant.reason, seconds, (), grant.token, state, icon)


def _ending_text(grant: Grant, released_by: str | None) -> str:
    person = grant.person
    by = released_by or _("a program")
    words: dict[str, str] = {
        "expired": _("The time of %(person)s ran out", person=person),
        "abandoned": _("%(person)s gave it back", person=person),
        "failed": _("%(person)s reported a problem", person=person),
        "released": _("%(by)s released it from %(person)s", by=by, person=person),
        "finished": _("%(person)s finished it", person=person),
        "undone": _undone_text(grant),
        "reopened": _("The answer from %(person)s was set aside", person=person),
        "corrected": _("The answer from %(person)s was corrected", person=person),
    }
    return words[grant.how]


def _undone_text(grant: Grant) -> str:
    words: dict[str | None, str] = {
        "abandoned": _("%(person)s gave it back, and undid that", person=grant.person),
        "failed": _("%(person)s reported a problem, and undid that", person=grant.person),
    }
    return words.get(grant.undone) or _("%(person)s finished it, and undid that", person=grant.person)


def _from_journal(history: leaseq.History) -> Iterator[TimelineEvent]:
    """The events that are only in the journal."""
    for event in history.events:
        text = _event_text(event)
        if text:
            state, icon = _STATES_AND_ICONS.get(event.what, ("", "pencil"))
            yield TimelineEvent(event.at, text, state=state, icon=icon)


def _event_text(event: Event) -> str | None:
    by = event.person or _("a program")
    words: dict[str, str] = {
        "assigned": _("%(by)s assigned it to %(whom)s", by=by, whom=event.detail),
        "unassigned": _("%(by)s let anybody have it, not only %(whom)s", by=by, whom=event.detail),
        "changed": _("%(by)s changed it: %(what)s", by=by, what=_changes_text(event)),
        "closed": _("It needs no further answer: what was left of it is closed"),
        "late": _("A late answer from %(person)s was kept", person=by),
        "revived": _("%(by)s handed it out again", by=by),
        "reopened": _("%(by)s reopened it", by=by),
        "corrected": _("%(by)s corrected the answer", by=by),
        "adopted": _("%(by)s accepted a late answer", by=by),
        "restored": _("It was restored after the server had lost it"),
        "died": _("It failed permanently"),
        "due": _("Its time came, and it is waiting"),
    }
    return words.get(event.what)


def _changes_text(event: Event) -> str:
    """The fields of a `changed` event, with their new values."""
    values: dict[str, Json] = json.loads(event.detail or "{}") if event.what == "changed" else {}
    none = _("none")
    words: dict[str, str] = {
        "priority": _("priority %(n)s", n=values.get("priority")),
        "due": _("due date %(when)s", when=values.get("due") or none),
        "requires": _("skills %(skills)s", skills=", ".join(values.get("requires") or ()) or none),
        "payload": _("payload"),
        "delay": _("available after %(span)s", span=span(values.get("delay") or 0))
        if values.get("delay")
        else _("available at once"),
        "answers": _("answers needed: %(n)s", n=values.get("answers")),
    }
    return ", ".join(words[name] for name in words if name in values)


@dataclass(frozen=True, slots=True)
class Row:
    """One field of the answers, side by side."""

    name: str
    title: str  # from the form, else the name
    values: tuple[Json, ...]  # by answer
    present: tuple[bool, ...]  # whether each answer has the field
    differs: bool


def side_by_side(answers: tuple[Answer, ...], titles: Mapping[str, str]) -> list[Row]:
    """The fields of the answers, with differences marked."""
    results = [one.result if isinstance(one.result, dict) else {"": one.result} for one in answers]
    rows = []
    for name in dict.fromkeys(name for result in results for name in result):
        presence = tuple(name in result for result in results)
        values = tuple(result.get(name) for result in results)
        is_same = all(presence) and all(type(one) is type(values[0]) and one == values[0] for one in values)
        rows.append(Row(name, titles.get(name, name), values, presence, differs=not is_same))
    return rows
