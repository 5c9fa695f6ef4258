"""The history of an item, as its page shows it: leases, answers, and what managers did."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TypeAlias

from flask_babel import gettext as _
from flask_babel import ngettext

import leaseq
from leaseq import Event, Grant, Json
from leaseq.webapp.rendering.filters import clock, shown_name, span
from leaseq.webapp.serving.time_slices import in_slices

Releases: TypeAlias = Mapping[int | None, str | None]
"""The manager who released a lease, by its token."""


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """An event of an item's timeline."""

    at: datetime
    what: str
    comment: str | None = None  # written by the person
    seconds: float | None = None  # seconds since the grant
    notes: tuple[str, ...] = ()
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
    "cancelled": ("dead", "alert"),
    "lapsed": ("dead", "clock"),
    "due": ("inbound", "clock"),
    "assigned": ("inbound", "person"),
    "unassigned": ("inbound", "person"),
}
"""The resulting state and the icon, by how a lease ended or by a journal event's kind."""


def timeline_of(item: leaseq.Item, history: leaseq.History) -> list[TimelineEvent]:
    """The timeline, oldest first."""
    events = [TimelineEvent(item.enqueued_at, _("Added to the queue"), state="inbound", icon="plus")]
    releases = {event.token: event.person for event in history.events if event.what == "released"}
    undone = {(grant.person, grant.ended_at): grant for grant in item.history if grant.how == "undone"}
    begun = {(grant.person, grant.reserved_at) for grant in item.history}
    for grant in item.history:
        before = undone.get((grant.person, grant.reserved_at))
        events += _undo(before, grant, history, releases) if before else _got(grant)
        if grant.ended_at and not (grant.how == "undone" and (grant.person, grant.ended_at) in begun):
            events.append(_ending(grant, grant.ended_at, releases))
    events += _from_journal(history, undone.values())
    replaced_tokens = {grant.token for grant in item.history if grant.how in ("reopened", "corrected")}
    events += [
        TimelineEvent(
            late.finished_at,
            _("%(person)s finished it", person=shown_name(late.person))
            if late.token in replaced_tokens
            else _("A late answer from %(person)s is kept", person=shown_name(late.person)),
            state="finished",
            icon="check",
        )
        for late in item.late_answers
        if not any(event.what == "late" and event.token == late.token for event in history.events)
    ]
    events.sort(key=lambda event: event.at)
    gaps = [None, *((later.at - earlier.at).total_seconds() for earlier, later in pairwise(events))]
    return [replace(event, gap=gap) for event, gap in zip(events, gaps, strict=True)]


def nth_try(number: int) -> str:
    """The number of a lease among an item's leases, as an ordinal."""
    other: str = _("%(n)sth try", n=number)
    words: dict[int, str] = {
        1: _("%(n)sst try", n=number),
        2: _("%(n)snd try", n=number),
        3: _("%(n)srd try", n=number),
    }
    return other if number % 100 in (11, 12, 13) else words.get(number % 10, other)


def _got(grant: Grant) -> Iterator[TimelineEvent]:
    text = _("%(person)s got it", person=shown_name(grant.person))
    notes = (nth_try(grant.attempt), *_extensions(grant))
    yield TimelineEvent(grant.reserved_at, text, notes=notes, state="reserved", icon="person")


def _extensions(grant: Grant) -> tuple[str, ...]:
    if not grant.renewals:
        return ()
    return (ngettext("extended once", "extended %(num)s times", grant.renewals),)


def _undo(
    undone: Grant, grant: Grant, history: leaseq.History, releases: Releases
) -> Iterator[TimelineEvent]:
    """What a person did and took back: both, if the journal still has the first."""
    how = undone.undone or "finished"
    act = next((event for event in history.events if (event.token, event.what) == (undone.token, how)), None)
    if act:
        yield _ending(replace(undone, how=how), act.at, releases)
        text = _("%(person)s undid that, and has it again", person=shown_name(grant.person))
    else:
        text = _undone_text(undone)
    state, icon = _STATES_AND_ICONS["undone"]
    yield TimelineEvent(
        grant.reserved_at,
        text,
        None if act else undone.reason,
        notes=_extensions(grant),
        state=state,
        icon=icon,
    )


def _undone_text(grant: Grant) -> str:
    words: dict[str, str] = {
        "abandoned": _("%(person)s gave it back, and undid that", person=shown_name(grant.person)),
        "failed": _("%(person)s reported a problem, and undid that", person=shown_name(grant.person)),
    }
    return words.get(grant.undone or "") or _(
        "%(person)s finished it, and undid that", person=shown_name(grant.person)
    )


def _ending(grant: Grant, ended_at: datetime, releases: Releases) -> TimelineEvent:
    state, icon = _STATES_AND_ICONS[grant.how]
    seconds = (ended_at - grant.reserved_at).total_seconds()
    text = _ending_text(grant, releases)
    return TimelineEvent(ended_at, text, grant.reason, seconds, state=state, icon=icon)


def _ending_text(grant: Grant, releases: Releases) -> str:
    person = shown_name(grant.person)
    by = _author(releases.get(grant.token))
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


_SAME_TIME = timedelta(milliseconds=1)


def _from_journal(history: leaseq.History, undone: Iterable[Grant]) -> Iterator[TimelineEvent]:
    """The events that are only in the journal. An undo that revived a failed item is one event, not two; so
    is the end of an item that nobody needs any more."""
    ends = [event.at for event in history.events if event.what in ("cancelled", "lapsed")]
    undos = [(grant.person, grant.ended_at) for grant in undone]
    for event in in_slices(history.events):
        text = _event_text(event)
        is_of_undo = event.what == "revived" and any(
            event.person == person and at and abs(event.at - at) < _SAME_TIME for person, at in undos
        )
        is_of_end = event.what == "died" and any(abs(event.at - at) < _SAME_TIME for at in ends)
        if text and not is_of_undo and not is_of_end:
            state, icon = _STATES_AND_ICONS.get(event.what, ("", "pencil"))
            comment = event.detail if event.what == "cancelled" else None
            yield TimelineEvent(event.at, text, comment, state=state, icon=icon)


def _author(name: str | None) -> str:
    return _("A program") if name is None else shown_name(name)


def _event_text(event: Event) -> str | None:
    by, whom = _author(event.person), shown_name(event.detail or "")
    words: dict[str, str] = {
        "assigned": _("%(by)s assigned it to %(whom)s", by=by, whom=whom),
        "unassigned": _("%(by)s let anybody have it, not only %(whom)s", by=by, whom=whom),
        "changed": _("%(by)s changed it: %(what)s", by=by, what=_changes_text(event)),
        "closed": _("It needs no further answer: what was left of it is closed"),
        "late": _("A late answer from %(person)s was kept", person=by),
        "revived": _("%(by)s handed it out again", by=by),
        "reopened": _("%(by)s reopened it", by=by),
        "corrected": _("%(by)s corrected the answer", by=by),
        "adopted": _("%(by)s accepted a late answer", by=by),
        "restored": _("It was restored after the server had lost it"),
        "died": _("It failed permanently"),
        "cancelled": _("%(by)s cancelled it: nobody needs it any more", by=by),
        "lapsed": _("Nobody answered it in time"),
        "due": _("Its time came, and it is waiting"),
    }
    return words.get(event.what)


def _time(text: str | None) -> str | None:
    return clock(datetime.fromisoformat(text)) if text else None


def _changes_text(event: Event) -> str:
    """The fields of a `changed` event, with their new values."""
    values: dict[str, Json] = json.loads(event.detail or "{}") if event.what == "changed" else {}
    none = _("none")
    words: dict[str, str] = {
        "priority": _("priority %(n)s", n=values.get("priority")),
        "due": _("due date %(when)s", when=_time(values.get("due")) or none),
        "requires": _("skills %(skills)s", skills=", ".join(values.get("requires") or ()) or none),
        "payload": _("content"),
        "delay": _("available after %(span)s", span=span(values.get("delay") or 0))
        if values.get("delay")
        else _("available at once"),
        "answers": _("answers needed: %(n)s", n=values.get("answers")),
    }
    return ", ".join(words[name] for name in words if name in values)
