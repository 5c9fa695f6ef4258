"""Renders an item with its form for the work page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from flask import render_template, url_for

import leaseq
from leaseq import Json
from leaseq.webapp.context import person, state, wants_fragment
from leaseq.webapp.forms import errors_at
from leaseq.webapp.notes import last_note
from leaseq.webapp.rendering.payload import parts_of
from leaseq.webapp.store.day_figures import DayFigures
from leaseq.webapp.store.threads import Message, new_message_id
from leaseq.webapp.work.form_view import Input, form_view_of
from leaseq.webapp.work.lease_outcome import LeaseEnd

VERBS = ("finish", "abandon", "fail", "renew", "draft", "outcome", "thread")


@dataclass(frozen=True)
class ItemView:
    """What the work page shows of an item."""

    queue: leaseq.Queue
    policy: leaseq.Policy
    id: str
    token: int
    input: Input
    lease: leaseq.Lease | None = None  # None: it has ended, and `lease_end` says how
    leases: Sequence[leaseq.Lease] = ()  # all that the person holds in this queue
    item: leaseq.Item | None = None  # if there is no lease to show it from
    lease_end: LeaseEnd | None = None
    errors: Mapping[str, str] = field(default_factory=dict)
    box_texts: Mapping[str, str] = field(
        default_factory=dict
    )  # texts of an undone act, by the text box they were typed in
    today: DayFigures | None = None  # of the person in this queue, if already known
    unread: bool = False  # the lease is new: if it is the item's first, nobody had the item before

    @property
    def payload(self) -> Json:
        return self.lease.payload if self.lease else self.item.payload if self.item else None

    @property
    def url(self) -> str:
        """The URL of the item's page, with its id only if the person holds several."""
        several = self.lease is not None and len(self.leases) > 1
        return url_for("work.page", q=self.queue.name, item=self.id) if several else self.queue_url

    @cached_property
    def queue_url(self) -> str:
        return url_for("work.page", q=self.queue.name)


def render_item(view: ItemView) -> str:
    form_view = form_view_of(view.policy.form)
    errors = errors_at(form_view.fields, view.errors)
    base = item_url(view.queue.name, view.id)
    item = _find_item(view)
    return render_template(
        "work/item_view.html" if wants_fragment() else "work/page.html",
        fragment=wants_fragment(),
        view=view,
        today=view.today or state().activity.today(person().name, view.queue.name),
        queue=view.queue,
        id=view.id,
        urls=urls_of(base),
        policy=view.policy,
        lease=view.lease,
        lease_end=view.lease_end,
        renewals=_renewals_left(view, item),
        note=_note_of_another(view, item),
        parts=parts_of(view.policy.form, view.payload) if view.lease or view.item else (),
        inputs=form_view.inputs(view.input, errors),
        notices=form_view.notices(),
        item_actions=form_view.item_actions(base, view.box_texts, errors) if view.lease else None,
        messages=_messages(view),
        message_id=new_message_id(),
        errors=errors,
        by_name=form_view.by_name,
        keys=form_view.keys,
        finishing_field=form_view.finishing_field,
    )


def item_url(queue: str, id: str) -> str:
    """The URL of an item, ending with a slash."""
    return url_for("work.finish", q=queue, id=id).removesuffix("finish")


def urls_of(base: str) -> dict[str, str]:
    """The URLs of the actions on an item, by verb. Flask would need as long for one URL as this for all."""
    return {verb: base + verb for verb in VERBS}


def _find_item(view: ItemView) -> leaseq.Item | None:
    """The item, if the page shows more than the lease contains: the number of renewals, or a note of somebody
    who had the item before."""
    if view.lease is None or (view.policy.renewals is None and view.lease.attempt == 1):
        return view.item
    return view.queue.get(view.id)


def _messages(view: ItemView) -> list[Message]:
    """The item's thread; not read for an item that nobody had before, which has no thread."""
    if view.lease is None or (view.unread and view.lease.attempt == 1):
        return []
    return state().threads.of_item(view.queue.name, view.id)


def _note_of_another(view: ItemView, item: leaseq.Item | None) -> leaseq.Grant | None:
    """The note of the person who had the item before, or of the manager who reopened it; not the person's own
    note."""
    note = last_note(item) if item and view.lease else None
    return note if note and (note.how == "reopened" or note.person != person().name) else None


def _renewals_left(view: ItemView, item: leaseq.Item | None) -> int | None:
    """How often the lease may still be renewed; None: no limit."""
    limit = view.policy.renewals
    if limit is None or view.lease is None or item is None:
        return None
    leases = (one for one in item.leases if one.token == view.token)
    return max(limit - next((one.renewals for one in leases), 0), 0)
